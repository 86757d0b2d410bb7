#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

namespace reprise::sandbox::detail {

// One listening port on 127.0.0.1 that survives every failure of accept(): if the process has no
// file descriptor left, it reports that, with the limit, and retries a little later.
class listener : public std::enable_shared_from_this<listener> {
public:
    using on_accept = std::function<void(boost::asio::ip::tcp::socket)>;
    using on_notice = std::function<void(std::string_view)>;

    explicit listener(boost::asio::io_context& io) : acceptor_(io), pause_(io) {}

    // Binds the port without listening: peers are refused, and no other process gets the port. Port
    // 0: any. The error names the address.
    std::expected<void, std::string> reserve(std::uint16_t port);
    // Call it after `reserve`.
    std::expected<void, std::string> listen();
    std::uint16_t port() const noexcept { return port_; }

    void start(on_accept accepted, on_notice notice);
    // While paused, new connections stay in the system's queue.
    void set_paused(bool is_paused);
    // There is no callback after it.
    void stop() noexcept;

private:
    void accept_next();
    void on_error(const boost::system::error_code& ec);

    boost::asio::ip::tcp::acceptor acceptor_;
    boost::asio::steady_timer pause_;
    std::uint16_t port_ = 0;
    on_accept accepted_;
    on_notice notice_;
    bool is_stopped_ = false;
    bool is_paused_ = false;
    bool is_accepting_ = false;
    bool is_failing_ = false;
};

}  // namespace reprise::sandbox::detail
