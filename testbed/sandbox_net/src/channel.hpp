#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>

#include <reprise/base/bytes.hpp>

namespace reprise::sandbox::detail {

// The user of a channel. Each call may close the channel; there are no calls after that.
class channel_user {
public:
    // The channel is ready. The name is the common name of a verified client certificate, or empty.
    virtual void on_open(const std::string& certificate_user) = 0;
    virtual void on_bytes(base::byte_view bytes) = 0;
    // All bytes passed to the channel so far have been sent.
    virtual void on_written() = 0;
    // The peer disconnected or violated the transport's rules. The channel is already closed.
    virtual void on_closed(std::string_view why) = 0;

protected:
    ~channel_user() = default;
};

// One socket, plain or TLS. It has one read at a time into its own buffer, and one write at a time
// with everything appended in the meantime. Its handlers keep it alive; they do nothing once it is
// closed.
class channel : public std::enable_shared_from_this<channel> {
public:
    virtual ~channel() = default;

    // Performs a handshake if necessary, then calls on_open and starts to read. `user` must live
    // until close() is called or on_closed was called.
    virtual void open(channel_user& user) = 0;

    // Append here, then flush.
    std::vector<std::byte>& output() noexcept { return output_; }
    virtual void flush() = 0;
    // Bytes appended but not yet accepted by the system.
    std::size_t pending_size() const noexcept {
        return output_.size() + writing_.size() - written_size_;
    }
    // Increases with every byte that the peer's system accepted.
    std::uint64_t progress() const noexcept { return progress_; }

    virtual void set_reading(bool is_wanted) = 0;

    // Writes what is pending, sends end-of-stream, then reads and discards until the peer closes,
    // too: closing at once could destroy the last bytes in flight. The user calls close() if the
    // peer takes too long.
    virtual void close_gently() = 0;
    // Closes at once, without another call to the user.
    virtual void close() noexcept = 0;
    // Like close(), but resets the connection: what is in flight is lost.
    virtual void reset() noexcept = 0;

protected:
    std::vector<std::byte> output_;
    std::vector<std::byte> writing_;
    std::size_t written_size_ = 0;
    std::uint64_t progress_ = 0;
};

std::shared_ptr<channel> make_plain_channel(boost::asio::ip::tcp::socket socket);
// `context` must outlive the channel.
std::shared_ptr<channel> make_tls_channel(
    boost::asio::ip::tcp::socket socket, boost::asio::ssl::context& context);

}  // namespace reprise::sandbox::detail
