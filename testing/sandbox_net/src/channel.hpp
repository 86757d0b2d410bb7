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

// Whoever talks over a channel. Each call may close the channel; none comes after that.
class channel_user {
public:
    // Ready to talk. The name is a verified client certificate's common name, or empty.
    virtual void on_open(const std::string& certificate_user) = 0;
    virtual void on_bytes(base::byte_view bytes) = 0;
    // Everything handed over so far has left.
    virtual void on_written() = 0;
    // The peer is gone or broke the transport's rules; the channel is closed already.
    virtual void on_closed(std::string_view why) = 0;

protected:
    ~channel_user() = default;
};

// One socket, plain or TLS: one read at a time into a buffer of its own, one write at a time of all
// that was appended meanwhile. Its handlers keep it alive; they do nothing once it is closed.
class channel : public std::enable_shared_from_this<channel> {
public:
    virtual ~channel() = default;

    // Shakes hands if it has to, then calls on_open and begins to read. `user` must live until
    // close() was called or on_closed came.
    virtual void open(channel_user& user) = 0;

    // Append here, then flush.
    std::vector<std::byte>& output() noexcept { return output_; }
    virtual void flush() = 0;
    // Bytes appended and not yet taken by the system.
    std::size_t pending_size() const noexcept {
        return output_.size() + writing_.size() - written_size_;
    }
    // Grows with every byte the peer's system took.
    std::uint64_t progress() const noexcept { return progress_; }

    virtual void set_reading(bool is_wanted) = 0;

    // Writes what is pending, tells the peer that nothing more comes, and reads (to nobody) until
    // the peer closes too: an immediate close could destroy the last bytes on their way. The user
    // ends it with close() if the peer takes too long.
    virtual void close_gently() = 0;
    // At once, without another call to the user.
    virtual void close() noexcept = 0;
    // The same, and the peer is told by a reset: what was under way is lost.
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
