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

// One listening port on 127.0.0.1 that survives everything accept() can meet: when the process has
// no file left it says so, with the limit, and tries again a little later.
class listener : public std::enable_shared_from_this<listener> {
public:
    using on_accept = std::function<void(boost::asio::ip::tcp::socket)>;
    using on_notice = std::function<void(std::string_view)>;

    explicit listener(boost::asio::io_context& io) : acceptor_(io), pause_(io) {}

    // Takes the port without listening: peers are refused, and nobody else gets it. Port 0: any.
    // The error names the address.
    std::expected<void, std::string> reserve(std::uint16_t port);
    // After `reserve`.
    std::expected<void, std::string> listen();
    std::uint16_t port() const noexcept { return port_; }

    void start(on_accept accepted, on_notice notice);
    // While paused peers get into the system's queue, but no further.
    void set_paused(bool is_paused);
    // No callback comes after it.
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
