#pragma once

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

#include <reprise/base/byte_writer.hpp>
#include <reprise/sandbox_net/certificates.hpp>
#include <reprise/sandbox_net/embedded_cluster.hpp>
#include <reprise/wire/cluster_messages.hpp>
#include <reprise/wire/document_messages.hpp>
#include <reprise/wire/frame_reader.hpp>
#include <reprise/wire/sasl.hpp>
#include <reprise/wire/session_messages.hpp>
#include <reprise/wire/vbucket.hpp>

// A client that uses only blocking sockets: it checks the server without the project's client code.
// Every wait ends after 30 s, so a test fails instead of hanging.
namespace reprise::sandbox::raw {

inline std::unique_ptr<embedded_cluster> start_cluster(server_options options) {
    auto started = embedded_cluster::start(std::move(options));
    EXPECT_TRUE(started) << started.error();
    return started ? *std::move(started) : nullptr;
}

// A connected loopback socket that closes itself.
class raw_socket {
public:
    raw_socket() = default;
    explicit raw_socket(std::uint16_t port) : file_(::socket(AF_INET, SOCK_STREAM, 0)) {
        const timeval patience{30, 0};
        ::setsockopt(file_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        ::setsockopt(file_, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(port);
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        is_connected_ =
            ::connect(file_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    }
    raw_socket(raw_socket&& other) noexcept
        : file_(std::exchange(other.file_, -1)), is_connected_(other.is_connected_) {}
    raw_socket& operator=(raw_socket&& other) noexcept {
        std::swap(file_, other.file_);
        std::swap(is_connected_, other.is_connected_);
        return *this;
    }
    ~raw_socket() {
        if (file_ >= 0) {
            ::close(file_);
        }
    }
    int file() const noexcept { return file_; }
    bool is_connected() const noexcept { return is_connected_; }

private:
    int file_ = -1;
    bool is_connected_ = false;
};

struct tls_options {
    std::string ca_path;
    std::optional<certificate_pem> certificate;
};

// Bytes both ways, plain or TLS.
class raw_stream {
public:
    explicit raw_stream(std::uint16_t port) : socket_(port), is_open_(socket_.is_connected()) {}
    raw_stream(std::uint16_t port, const tls_options& options) : socket_(port) {
        std::signal(SIGPIPE, SIG_IGN);  // OpenSSL writes to its file without MSG_NOSIGNAL
        context_ = SSL_CTX_new(TLS_client_method());
        SSL_CTX_load_verify_locations(context_, options.ca_path.c_str(), nullptr);
        SSL_CTX_set_verify(context_, SSL_VERIFY_PEER, nullptr);
        if (options.certificate) {
            use_certificate(*options.certificate);
        }
        ssl_ = SSL_new(context_);
        X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl_), "127.0.0.1");
        SSL_set_fd(ssl_, socket_.file());
        is_open_ = SSL_connect(ssl_) == 1;
    }
    raw_stream(const raw_stream&) = delete;
    raw_stream& operator=(const raw_stream&) = delete;
    ~raw_stream() {
        SSL_free(ssl_);
        SSL_CTX_free(context_);
    }

    // Whether the connection and its handshake succeeded.
    bool is_open() const noexcept { return is_open_; }
    long verify_result() const { return SSL_get_verify_result(ssl_); }
    int file() const noexcept { return socket_.file(); }

    bool send(base::byte_view bytes) {
        while (!bytes.empty()) {
            const auto size =
                ssl_ != nullptr ? SSL_write(ssl_, bytes.data(), static_cast<int>(bytes.size()))
                                : ::send(socket_.file(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (size <= 0) {
                return false;
            }
            bytes = bytes.subspan(static_cast<std::size_t>(size));
        }
        return true;
    }
    bool send(std::string_view text) { return send(base::as_bytes(text)); }

    // Returns some bytes; none once the peer has closed or reset.
    base::byte_view receive() {
        const auto size = ssl_ != nullptr
                              ? SSL_read(ssl_, buffer_.data(), static_cast<int>(buffer_.size()))
                              : ::recv(socket_.file(), buffer_.data(), buffer_.size(), 0);
        if (size < 0 && ssl_ == nullptr) {
            EXPECT_NE(errno, EAGAIN) << "the server did not answer in time";
        }
        return base::byte_view(buffer_).first(size > 0 ? static_cast<std::size_t>(size) : 0);
    }
    // Returns everything until the peer closes.
    std::string receive_all() {
        std::string all;
        for (auto bytes = receive(); !bytes.empty(); bytes = receive()) {
            all += base::as_text(bytes);
        }
        return all;
    }
    // Returns everything up to and including `mark`, or until the peer closes.
    std::string receive_until(std::string_view mark) {
        std::string all;
        while (!all.contains(mark)) {
            const auto bytes = receive();
            if (bytes.empty()) {
                break;
            }
            all += base::as_text(bytes);
        }
        return all;
    }

private:
    void use_certificate(const certificate_pem& pem) {
        BIO* certificate = BIO_new_mem_buf(pem.certificate.data(), -1);
        BIO* key = BIO_new_mem_buf(pem.private_key.data(), -1);
        X509* parsed = PEM_read_bio_X509(certificate, nullptr, nullptr, nullptr);
        EVP_PKEY* parsed_key = PEM_read_bio_PrivateKey(key, nullptr, nullptr, nullptr);
        SSL_CTX_use_certificate(context_, parsed);
        SSL_CTX_use_PrivateKey(context_, parsed_key);
        X509_free(parsed);
        EVP_PKEY_free(parsed_key);
        BIO_free(certificate);
        BIO_free(key);
    }

    raw_socket socket_;
    SSL_CTX* context_ = nullptr;
    SSL* ssl_ = nullptr;
    bool is_open_ = false;
    std::vector<std::byte> buffer_ = std::vector<std::byte>(65536);
};

// The header for a document in a bucket with 1024 vbuckets.
inline wire::request_header at_key(std::string_view key) {
    wire::request_header header;
    header.vbucket = wire::vbucket_of(key, 1024);
    return header;
}

// One answer that owns its data.
struct answer {
    wire::frame_header header;
    std::string extras;
    std::string value;

    wire::status status() const { return static_cast<wire::status>(header.vbucket_or_status); }
};

// A key-value connection without client code.
class raw_client {
public:
    explicit raw_client(std::uint16_t port) : stream_(port) {}
    raw_client(std::uint16_t port, const tls_options& options) : stream_(port, options) {}

    raw_stream& stream() noexcept { return stream_; }

    template <class Message>
    void send(const Message& message, wire::request_header header = {}) {
        header.opaque = ++opaque_;
        std::vector<std::byte> bytes;
        base::byte_writer writer(bytes);
        ASSERT_TRUE(message.encode(writer, header));
        stream_.send(bytes);
    }

    // The next frame; empty once the server has closed.
    std::optional<answer> receive() {
        for (;;) {
            const auto next = reader_.next();
            if (!next) {
                return std::nullopt;
            }
            if (*next) {
                return answer{
                    (*next)->header(), std::string(base::as_text((*next)->extras())),
                    std::string(base::as_text((*next)->value()))};
            }
            const auto bytes = stream_.receive();
            if (bytes.empty()) {
                return std::nullopt;
            }
            // The reader points into its piece until it needs more bytes.
            piece_.assign(bytes.begin(), bytes.end());
            reader_.feed(piece_);
        }
    }

    template <class Message>
    std::optional<answer> call(const Message& message, wire::request_header header = {}) {
        send(message, header);
        return receive();
    }

    void hello(wire::hello_feature_set features) {
        const auto answered = call(wire::hello_request{"raw client", features});
        ASSERT_TRUE(answered);
        ASSERT_EQ(answered->status(), wire::status::success);
    }

    // Logs in with SCRAM-SHA512 or PLAIN and returns the status of the last step.
    wire::status log_in(
        const std::string& user, const std::string& password,
        wire::sasl_mechanism mechanism = wire::sasl_mechanism::scram_sha512) {
        wire::sasl_client client(
            mechanism, {.username = user, .password = password, .bearer_token = {}}, "a nonce");
        const auto name = to_string(mechanism);
        const auto first = client.start();
        auto answered =
            call(wire::sasl_request{wire::opcode::sasl_auth, name, base::as_bytes(first.value())});
        if (answered && answered->status() == wire::status::auth_continue) {
            const auto proof =
                client.on_key(wire::derive_key(client.on_challenge(answered->value).value()));
            answered = call(
                wire::sasl_request{wire::opcode::sasl_step, name, base::as_bytes(proof.value())});
        }
        return answered ? answered->status() : wire::status::einternal;
    }

    // Runs the whole bootstrap, up to a selected bucket.
    void bootstrap(
        const std::string& bucket = "default",
        wire::hello_feature_set features = {
            wire::hello_feature::xerror, wire::hello_feature::select_bucket,
            wire::hello_feature::json, wire::hello_feature::collections}) {
        ASSERT_TRUE(stream_.is_open());
        hello(features);
        ASSERT_EQ(log_in("app", "secret"), wire::status::success);
        const auto selected = call(wire::select_bucket_request{bucket});
        ASSERT_TRUE(selected);
        ASSERT_EQ(selected->status(), wire::status::success);
    }

    std::optional<answer> set(std::string_view key, std::string_view value) {
        wire::store_request request;
        request.key.key = key;
        request.value = base::as_bytes(value);
        return call(request, at_key(key));
    }
    std::optional<answer> get(std::string_view key) {
        wire::document_request request;
        request.key.key = key;
        return call(request, at_key(key));
    }

private:
    raw_stream stream_;
    wire::frame_reader reader_{{.direction = wire::frame_direction::to_client}};
    std::vector<std::byte> piece_;
    std::uint32_t opaque_ = 0;
};

}  // namespace reprise::sandbox::raw
