#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include <boost/asio/ssl/context.hpp>

#include <reprise/base/bytes.hpp>
#include <reprise/base/slice.hpp>
#include <reprise/engine/driver_action.hpp>
#include <reprise/retry/time.hpp>

#include "serial_executor.hpp"

namespace reprise::net {

class connection;
class name_resolver;

// The interface that a connection uses and reports to. Implemented by the table of a driver and by
// tests. All members are called on the executor.
class connection_owner {
public:
    // Keeps the owner alive while a handler of the connection is pending.
    [[nodiscard]] virtual std::shared_ptr<connection_owner> hold() = 0;

    [[nodiscard]] virtual const serial_executor& executor() const noexcept = 0;
    [[nodiscard]] virtual name_resolver& resolver() noexcept = 0;
    // Only connections over TLS call it.
    [[nodiscard]] virtual boost::asio::ssl::context& tls_context() noexcept = 0;
    [[nodiscard]] virtual bool is_tls_verified() const noexcept = 0;
    [[nodiscard]] virtual duration connect_timeout() const noexcept = 0;
    virtual void set_socket_options(stream_socket& socket) noexcept = 0;

    // The connection is open.
    virtual void on_connected(connection& from) = 0;
    // The connection could not be opened. This is the last call.
    virtual void on_connect_failed(
        connection& from, engine::connect_failure failure, std::string_view text) = 0;
    // `bytes` point into `owner`.
    virtual void on_bytes(
        connection& from, const base::block_ref& owner, base::byte_view bytes) = 0;
    // Where the next bytes of a large answer may be received; usually empty.
    [[nodiscard]] virtual engine::read_place place_to_read(connection& from) = 0;
    // The operating system took the next `size` bytes of the outstanding write. May be called from
    // inside connection::flush.
    virtual void on_written(connection& from, std::size_t size) = 0;
    // The connection is closed. This is the last call. The last `unwritten_size` bytes of the
    // outstanding write have not left this process.
    virtual void on_closed(
        connection& from, engine::close_reason reason, std::size_t unwritten_size) = 0;
    // Returns the bytes to write now, or an empty list if there is nothing to write. They stay
    // valid until on_written has covered them or the connection has ended; the list itself only
    // until the next call.
    [[nodiscard]] virtual base::byte_views begin_write(connection& from) = 0;

protected:
    ~connection_owner() = default;
};

}  // namespace reprise::net
