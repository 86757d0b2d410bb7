#include "channel.hpp"

#include <array>
#include <utility>

#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ssl/stream.hpp>

namespace reprise::sandbox::detail {

namespace {

namespace asio = boost::asio;
using tcp = asio::ip::tcp;
using tls_stream = asio::ssl::stream<tcp::socket>;

std::string common_name_of_peer(SSL* ssl) {
    X509* certificate = SSL_get0_peer_certificate(ssl);
    if (certificate == nullptr || SSL_get_verify_result(ssl) != X509_V_OK) {
        return {};
    }
    const X509_NAME* subject = X509_get_subject_name(certificate);
    const int index = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
    if (index < 0) {
        return {};
    }
    const ASN1_STRING* text = X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, index));
    return {
        reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
        static_cast<std::size_t>(ASN1_STRING_length(text))};
}

template <class Stream>
class stream_channel final : public channel {
public:
    template <class... Arguments>
    explicit stream_channel(tcp::socket socket, Arguments&... arguments)
        : stream_(std::move(socket), arguments...) {
        boost::system::error_code ignored;
        stream_.lowest_layer().set_option(tcp::no_delay(true), ignored);
        // Bytes in the system's buffer can no longer be replaced, as by a newer configuration.
        stream_.lowest_layer().set_option(
            asio::socket_base::send_buffer_size(send_buffer_size), ignored);
    }

    void open(channel_user& user) override {
        user_ = &user;
        if constexpr (std::is_same_v<Stream, tls_stream>) {
            stream_.async_handshake(
                tls_stream::server,
                [this, self = shared_from_this()](const boost::system::error_code& ec) {
                    if (is_closed_) {
                        return;
                    }
                    if (ec) {
                        fail("TLS handshake failed: " + ec.message());
                        return;
                    }
                    begin(common_name_of_peer(stream_.native_handle()));
                });
        } else {
            begin({});
        }
    }

    void flush() override {
        if (is_writing_ || is_closed_ || !is_open_) {
            return;
        }
        if (output_.empty()) {
            return;
        }
        writing_.swap(output_);
        write_rest();
    }

    void set_reading(bool is_wanted) override {
        is_reading_wanted_ = is_wanted;
        read_on();
    }

    void close_gently() override {
        is_ending_ = true;
        is_reading_wanted_ = true;
        flush();
        if (!is_writing_) {
            end_output();
        }
        read_on();
    }

    void close() noexcept override {
        is_closed_ = true;
        user_ = nullptr;
        boost::system::error_code ignored;
        stream_.lowest_layer().close(ignored);
    }

    void reset() noexcept override {
        boost::system::error_code ignored;
        stream_.lowest_layer().set_option(tcp::socket::linger(true, 0), ignored);
        close();
    }

private:
    static constexpr std::size_t read_size_max = std::size_t{16} * 1024;
    static constexpr int send_buffer_size = 128 * 1024;

    void begin(const std::string& certificate_user) {
        is_open_ = true;
        user_->on_open(certificate_user);
        flush();
        read_on();
    }

    void read_on() {
        if (is_reading_ || is_closed_ || !is_open_ || !is_reading_wanted_) {
            return;
        }
        is_reading_ = true;
        stream_.async_read_some(
            asio::buffer(buffer_), [this, self = shared_from_this()](
                                       const boost::system::error_code& ec, std::size_t size) {
                is_reading_ = false;
                if (is_closed_) {
                    return;
                }
                if (ec) {
                    fail(ec.message());
                    return;
                }
                if (!is_ending_) {
                    user_->on_bytes(base::byte_view(buffer_).first(size));
                }
                read_on();
            });
    }

    void write_rest() {
        is_writing_ = true;
        stream_.async_write_some(
            asio::buffer(writing_.data() + written_size_, writing_.size() - written_size_),
            [this, self = shared_from_this()](
                const boost::system::error_code& ec, std::size_t size) {
                is_writing_ = false;
                if (is_closed_) {
                    return;
                }
                if (ec) {
                    fail(ec.message());
                    return;
                }
                progress_ += size;
                written_size_ += size;
                on_progress();
            });
    }

    void on_progress() {
        if (written_size_ < writing_.size()) {
            write_rest();
            return;
        }
        written_size_ = 0;
        writing_.clear();
        if (writing_.capacity() > writing_capacity_kept_max) {
            writing_ = {};  // free the memory of a large answer instead of keeping it for the
                            // lifetime of the connection
        }
        if (!output_.empty()) {
            flush();
        } else if (is_ending_) {
            end_output();
        } else {
            user_->on_written();
        }
    }

    void end_output() {
        boost::system::error_code ignored;
        stream_.lowest_layer().shutdown(tcp::socket::shutdown_send, ignored);
    }

    void fail(const std::string& why) {
        channel_user* user = std::exchange(user_, nullptr);
        close();
        user->on_closed(why);
    }

    static constexpr std::size_t writing_capacity_kept_max = std::size_t{256} * 1024;

    Stream stream_;
    channel_user* user_ = nullptr;
    std::array<std::byte, read_size_max> buffer_{};
    bool is_open_ = false;
    bool is_closed_ = false;
    bool is_ending_ = false;
    bool is_reading_ = false;
    bool is_reading_wanted_ = true;
    bool is_writing_ = false;
};

}  // namespace

std::shared_ptr<channel> make_plain_channel(tcp::socket socket) {
    return std::make_shared<stream_channel<tcp::socket>>(std::move(socket));
}

std::shared_ptr<channel> make_tls_channel(tcp::socket socket, asio::ssl::context& context) {
    return std::make_shared<stream_channel<tls_stream>>(std::move(socket), context);
}

}  // namespace reprise::sandbox::detail
