// A key-value server for measurements of large values: a get of the key "v<size>..." returns a
// value of that size without a lookup, and a store is only acknowledged. Prints a plain and a TLS
// port, then serves each connection on a thread of its own until it is terminated.

#include <charconv>
#include <csignal>
#include <map>
#include <string>
#include <string_view>
#include <thread>

#include <reprise/wire/document_messages.hpp>

#include "byte_stream.hpp"
#include "canned_cluster.hpp"

namespace {

namespace wire = reprise::wire;
namespace base = reprise::base;

constexpr std::size_t opaque_at = 12;  // offset in a frame
constexpr std::size_t read_size = std::size_t{256} * 1024;
constexpr std::size_t body_size_max = std::size_t{20} * 1024 * 1024;

// The frames of one connection, which are copied into its output.
class prepared_frames {
public:
    const bench::reply_bytes& of_size(std::size_t size) {
        bench::reply_bytes& frame = frames_[size];
        if (frame.empty()) {
            const std::vector<std::byte> value(size, std::byte{'x'});
            wire::response_header header;
            header.cas = 1;
            base::byte_writer writer(frame);
            (void)wire::document_response{0x0200'0000, value, {}}.encode(writer, header);
        }
        return frame;
    }

private:
    std::map<std::size_t, bench::reply_bytes> frames_;
};

// The size that a key names after its first letter; the key's prefix is the collection.
std::size_t size_in(std::string_view key) {
    std::size_t size = 0;
    const std::string_view digits = key.substr(key.find('v') + 1);
    (void)std::from_chars(digits.data(), digits.data() + digits.size(), size);
    return size;
}

template <class Stream>
void serve(const Stream& stream, const bench::canned_cluster& cluster) {
    bench::canned_peer peer;
    peer.reader = wire::frame_reader{{.body_size_max_bytes = body_size_max}};
    prepared_frames frames;
    bench::reply_bytes in(read_size);
    bench::reply_bytes out;
    while (const std::size_t size = stream.receive(in)) {
        peer.reader.feed(base::byte_view(in).first(size));
        out.clear();
        auto next = peer.reader.next();
        for (; next && *next; next = peer.reader.next()) {
            const wire::frame_view& frame = **next;
            if (frame.op() != wire::opcode::get) {
                cluster.answer(frame, peer, out);
                continue;
            }
            const bench::reply_bytes& made = frames.of_size(size_in(base::as_text(frame.key())));
            const auto at = out.size();
            out.insert(out.end(), made.begin(), made.end());
            base::store_big_endian(out.data() + at + opaque_at, frame.opaque());
        }
        if (!next || !stream.send(out)) {
            return;
        }
    }
}

bench::tls_context server_context(const char* certificate, const char* key) {
    bench::tls_context made(SSL_CTX_new(TLS_server_method()));
    if (SSL_CTX_use_certificate_chain_file(made.get(), certificate) != 1 ||
        SSL_CTX_use_PrivateKey_file(made.get(), key, SSL_FILETYPE_PEM) != 1) {
        bench::fail("certificate");
    }
    return made;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) {
        std::fputs("usage: values_responder CERTIFICATE KEY\n", stderr);
        return 2;
    }
    std::signal(SIGPIPE, SIG_IGN);  // OpenSSL writes to sockets that the client has closed
    const bench::tls_context context = server_context(argv[1], argv[2]);
    std::uint16_t plain_port = 0;
    std::uint16_t tls_port = 0;
    const int plain_listener = bench::listen_on(plain_port);
    const int tls_listener = bench::listen_on(tls_port);
    std::printf("%d %d\n", plain_port, tls_port);
    std::fflush(stdout);
    const bench::canned_cluster cluster(bench::node_ports{.kv = plain_port, .kv_tls = tls_port});
    std::jthread tls_side([&] {
        while (true) {
            const int socket = bench::accept_from(tls_listener);
            std::thread([&cluster, &context, socket] {
                using enum bench::tls_stream::side;
                const bench::tls_stream stream(*context, socket, server);
                if (stream.is_open()) {
                    serve(stream, cluster);
                }
            }).detach();
        }
    });
    while (true) {
        const int socket = bench::accept_from(plain_listener);
        std::thread([&cluster, socket] { serve(bench::plain_stream(socket), cluster); }).detach();
    }
}
