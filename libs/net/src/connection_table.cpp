#include "connection_table.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <boost/asio/ip/tcp.hpp>

#include "connection.hpp"
#include "driver.hpp"

namespace reprise::net {

namespace asio = boost::asio;
using boost::system::error_code;

connection_table::connection_table(
    driver& at, const engine::engine_options& options, std::shared_ptr<asio::ssl::context> tls,
    std::unique_ptr<name_resolver> resolver)
    : driver_(at),
      options_(options),
      tls_context_(std::move(tls)),
      resolver_(std::move(resolver)) {}

void connection_table::open(engine::connect_action&& action) {
    const auto number = action.connection.value;
    const auto made = std::make_shared<connection>(*this, std::move(action));
    connections_.emplace(number, made);
    made->open();
}

connection* connection_table::find(engine::connection_id id) const noexcept {
    if (found_last_ != nullptr && found_last_->id() == id) [[likely]] {
        return found_last_;
    }
    const auto found = connections_.find(id.value);
    if (found == connections_.end()) {
        return nullptr;
    }
    found_last_ = found->second.get();
    return found_last_;
}

void connection_table::erase(engine::connection_id id) noexcept {
    found_last_ = nullptr;
    connections_.erase(id.value);
}

std::string connection_table::local_address(engine::connection_id id) const {
    const connection* const at = find(id);
    return at == nullptr ? std::string() : at->local_address();
}

void connection_table::forget_context() noexcept {
    clear();
    resolver_.reset();
}

std::shared_ptr<connection_owner> connection_table::hold() {
    return {driver_.shared_from_this(), this};
}

const serial_executor& connection_table::executor() const noexcept {
    return driver_.executor();
}

void connection_table::set_socket_options(stream_socket& socket) noexcept {
    error_code ignored;
    // Child processes must not keep the connection open.
    ::fcntl(socket.native_handle(), F_SETFD, FD_CLOEXEC);
    static_cast<void>(socket.set_option(asio::ip::tcp::no_delay(true), ignored));
    if (options_.enable_tcp_keepalives) {
        const auto seconds =
            std::chrono::duration_cast<std::chrono::seconds>(options_.tcp_keepalive_time);
        static_cast<void>(socket.set_option(asio::socket_base::keep_alive(true), ignored));
        const int idle = static_cast<int>(std::min<std::int64_t>(seconds.count(), 32767));
        ::setsockopt(socket.native_handle(), IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle));
    }
}

void connection_table::on_connected(connection& from) {
    driver_.read_clock();
    driver_.engine().on_connected(from.id(), from.peer_address(), driver_.now());
    driver_.run_engine();
}

void connection_table::on_connect_failed(
    connection& from, engine::connect_failure failure, std::string_view text) {
    driver_.read_clock();
    const auto id = from.id();
    erase(id);
    driver_.engine().on_connect_failed(id, failure, text, driver_.now());
    driver_.run_engine();
}

void connection_table::on_bytes(
    connection& from, const base::block_ref& owner, base::byte_view bytes) {
    driver_.begin_event();
    driver_.engine().on_bytes(from.id(), owner, bytes, driver_.now());
    driver_.run_engine();
}

engine::read_place connection_table::place_to_read(connection& from) {
    return driver_.engine().place_to_read(from.id());
}

void connection_table::on_written(connection& from, std::size_t size) {
    if (driver_.is_running()) {
        driver_.engine().on_written(from.id(), size, driver_.now());
        return;  // from inside an iteration, which continues
    }
    driver_.read_clock();
    driver_.engine().on_written(from.id(), size, driver_.now());
    driver_.run_engine();
}

void connection_table::on_closed(
    connection& from, engine::close_reason reason, std::size_t unwritten_size) {
    driver_.read_clock();
    const auto id = from.id();
    erase(id);
    driver_.engine().on_closed(id, reason, unwritten_size, driver_.now());
    driver_.run_engine();
}

base::byte_views connection_table::begin_write(connection& from) {
    return driver_.engine().begin_write(from.id(), driver_.now());
}

}  // namespace reprise::net
