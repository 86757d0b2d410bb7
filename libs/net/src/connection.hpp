#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>

#include <reprise/base/bytes.hpp>
#include <reprise/engine/driver_action.hpp>

#include "handler_memory.hpp"
#include "receive_blocks.hpp"

namespace reprise::net {

class connection_owner;

// One socket of the loop, plain or TLS, from the name to the end.
//
//     open -> (owner.on_connected, then reads by itself; flush) or owner.on_connect_failed
//     close, or the peer's end -> owner.on_closed
//
// Exactly one of on_connect_failed and on_closed is called, never from inside open, flush or close.
// Its handlers keep the owner and the connection alive; the connection itself does not, so that a
// context destroyed with handlers inside leaves nothing behind.
class connection : public std::enable_shared_from_this<connection> {
public:
    connection(connection_owner& owner, engine::connect_action target);

    void open();
    // Writes what the engine has, unless a write is outstanding; then that one's end does it.
    void flush();
    // Off: the bytes of the peer wait in the network, and its end is not seen. At first on. One
    // read brings `size_max` bytes at most, and as much only if smaller ones were full.
    void set_reading(bool is_wanted, std::size_t size_max);
    void close();

    [[nodiscard]] engine::connection_id id() const noexcept { return target_.connection; }
    // "address:port" of this side; empty while there is none.
    [[nodiscard]] std::string local_address() const;
    // The numeric address of the other side, without its port; empty while there is none.
    [[nodiscard]] std::string peer_address() const;

private:
    enum class phase : std::uint8_t {
        resolving,
        connecting,   // to endpoints_[endpoint_]
        handshaking,  // TLS
        open,
        closing,  // the socket is closed, handlers are still to come
        done
    };
    using tcp = boost::asio::ip::tcp;
    using tls_stream = boost::asio::ssl::stream<tcp::socket&>;

    void on_addresses(std::vector<tcp::endpoint> endpoints, std::string_view failure);
    void connect_next();
    void on_connect(const boost::system::error_code& ec);
    void note_address(const boost::system::error_code& ec);
    void begin_handshake();
    void on_handshake(const boost::system::error_code& ec);
    void become_open();
    void fail(engine::connect_failure failure, std::string_view text);
    void read();
    void on_read(const boost::system::error_code& ec, std::size_t size);
    void on_write(const boost::system::error_code& ec, std::size_t size);
    void begin_end(engine::close_reason reason);
    void end_if_quiet();
    void close_socket() noexcept;
    [[nodiscard]] engine::close_reason reason_of(
        const boost::system::error_code& ec) const noexcept;
    template <class Function>
    auto guarded(Function function);

    connection_owner& owner_;
    engine::connect_action target_;
    phase phase_ = phase::resolving;
    tcp::socket socket_;
    std::unique_ptr<tls_stream> tls_;
    boost::asio::steady_timer timer_;  // of one address, while connecting
    std::vector<tcp::endpoint> endpoints_;
    std::size_t endpoint_ = 0;
    engine::connect_failure last_failure_ = engine::connect_failure::other;
    std::string last_text_;
    bool is_address_late_ = false;  // the timer ended the attempt

    receive_blocks blocks_;
    handler_memory read_memory_;
    handler_memory write_memory_;
    std::size_t write_size_ = 0;  // of the outstanding write; its end is at the engine
    bool is_reading_ = false;
    bool is_reading_wanted_ = true;
    bool is_in_read_ = false;  // its bytes are being handled
    bool is_writing_ = false;
    engine::close_reason end_reason_ = engine::close_reason::requested;
    std::size_t unwritten_size_ = 0;
};

}  // namespace reprise::net
