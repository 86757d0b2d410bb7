#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/stream.hpp>

#include <reprise/base/bytes.hpp>
#include <reprise/engine/driver_action.hpp>

#include "handler_memory.hpp"
#include "receive_blocks.hpp"
#include "serial_executor.hpp"

namespace reprise::net {

class connection_owner;

// One socket of the loop, plain or TLS, from name lookup to close.
//
//     open -> (owner.on_connected, then reads continuously; flush) or owner.on_connect_failed
//     close, or the peer closes -> owner.on_closed
//
// Calls exactly one of on_connect_failed and on_closed, and never from inside open, flush or close.
// Its handlers keep the owner and the connection alive. The connection itself does not own its
// owner, so that a context destroyed with handlers inside leaves nothing behind.
class connection : public std::enable_shared_from_this<connection> {
public:
    connection(connection_owner& owner, engine::connect_action target);

    void open();
    // Writes what the engine has. If a write is outstanding, its handler continues with the rest. A
    // plain socket usually takes everything at once, and then nothing is outstanding.
    void flush();
    // The same in a later turn of the loop, after the bytes that have already arrived were
    // reported. TLS may have received none that can be reported (a part of a record), so the number
    // of turns is limited.
    void flush_when_read();
    // Turns reading on or off; it is on at first. While it is off, the peer's bytes wait in the
    // network, and the end of the connection is not noticed. One read returns at most `size_max`
    // bytes, and reads grow to that size only while smaller ones fill their buffer.
    void set_reading(bool is_wanted, std::size_t size_max);
    void close();

    [[nodiscard]] engine::connection_id id() const noexcept { return target_.connection; }
    // "address:port" of this side. Empty if the connection is not open.
    [[nodiscard]] std::string local_address() const;
    // The numeric address of the peer without its port. Empty if the connection is not open.
    [[nodiscard]] std::string peer_address() const;

private:
    enum class phase : std::uint8_t {
        resolving,
        connecting,   // to endpoints_[endpoint_]
        handshaking,  // TLS
        open,
        closing,  // the socket is closed, but handlers have yet to run
        done
    };
    using tcp = boost::asio::ip::tcp;
    using tls_stream = boost::asio::ssl::stream<stream_socket&>;

    void on_addresses(std::vector<tcp::endpoint> endpoints, std::string_view failure);
    void connect_next();
    void on_connect(const boost::system::error_code& ec);
    void note_address(const boost::system::error_code& ec);
    void begin_handshake();
    void on_handshake(const boost::system::error_code& ec);
    void become_open();
    void fail(engine::connect_failure failure, std::string_view text);
    class read_handler;
    void read();
    void read_with(read_handler&& handler);
    [[nodiscard]] base::mutable_byte_view space_after_large_read();
    void report_after_large_read(std::size_t size);
    // Returns whether to continue reading.
    [[nodiscard]] bool on_read(const boost::system::error_code& ec, std::size_t size);
    [[nodiscard]] std::size_t write_at_once(base::byte_views parts);
    void on_write(const boost::system::error_code& ec, std::size_t size);
    [[nodiscard]] bool has_unread_bytes() const noexcept;
    void flush_later();
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
    stream_socket socket_;
    std::unique_ptr<tls_stream> tls_;
    steady_timer timer_;  // for one address, while connecting
    std::vector<tcp::endpoint> endpoints_;
    std::size_t endpoint_ = 0;
    engine::connect_failure last_failure_ = engine::connect_failure::other;
    std::string last_text_;
    bool is_address_late_ = false;  // the timer canceled the attempt

    receive_blocks blocks_;
    engine::read_place place_;    // of the read that is pending, if the engine has one for it
    bool is_large_read_ = false;  // the last one
    handler_memory read_memory_;
    handler_memory write_memory_;
    std::size_t write_size_ = 0;  // size of the outstanding write; the engine owns its bytes
    bool is_reading_ = false;
    bool is_reading_wanted_ = true;
    bool is_in_read_ = false;   // the owner is handling the bytes
    int flush_turns_left_ = 0;  // how long a request waits for the bytes that have arrived
    bool is_writing_ = false;
    engine::close_reason end_reason_ = engine::close_reason::requested;
    std::size_t unwritten_size_ = 0;
};

}  // namespace reprise::net
