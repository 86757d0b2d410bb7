#include "listener.hpp"

#include <sys/resource.h>

#include <chrono>
#include <utility>

#include <boost/asio/error.hpp>
#include <boost/asio/ip/address_v4.hpp>

namespace reprise::sandbox::detail {

namespace {

namespace asio = boost::asio;
using tcp = asio::ip::tcp;

constexpr std::chrono::milliseconds accept_pause{100};

std::string file_limit_text() {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) {
        return "unknown";
    }
    return std::to_string(limit.rlim_cur);
}

std::expected<void, std::string> done(std::uint16_t port, const boost::system::error_code& ec) {
    if (ec) {
        return std::unexpected(
            "cannot listen on 127.0.0.1:" + std::to_string(port) + ": " + ec.message());
    }
    return {};
}

}  // namespace

std::expected<void, std::string> listener::reserve(std::uint16_t port) {
    const tcp::endpoint endpoint(asio::ip::address_v4::loopback(), port);
    boost::system::error_code ec;
    (void)acceptor_.open(endpoint.protocol(), ec);
    if (!ec) {
        (void)acceptor_.set_option(tcp::acceptor::reuse_address(true), ec);
    }
    if (!ec) {
        (void)acceptor_.bind(endpoint, ec);
    }
    if (!ec) {
        port_ = acceptor_.local_endpoint(ec).port();
    }
    return done(port, ec);
}

std::expected<void, std::string> listener::listen() {
    boost::system::error_code ec;
    (void)acceptor_.listen(tcp::acceptor::max_listen_connections, ec);
    return done(port_, ec);
}

void listener::start(on_accept accepted, on_notice notice) {
    accepted_ = std::move(accepted);
    notice_ = std::move(notice);
    accept_next();
}

void listener::stop() noexcept {
    is_stopped_ = true;
    boost::system::error_code ignored;
    (void)acceptor_.close(ignored);
    pause_.cancel();
}

void listener::set_paused(bool is_paused) {
    is_paused_ = is_paused;
    boost::system::error_code ignored;
    if (is_paused_) {
        (void)acceptor_.cancel(ignored);
    } else {
        accept_next();
    }
}

void listener::accept_next() {
    if (is_paused_ || is_accepting_ || is_stopped_) {
        return;
    }
    is_accepting_ = true;
    acceptor_.async_accept(
        [this, self = shared_from_this()](const boost::system::error_code& ec, tcp::socket socket) {
            is_accepting_ = false;
            if (is_stopped_) {
                return;
            }
            if (ec == asio::error::operation_aborted) {
                accept_next();  // paused, or paused and resumed
                return;
            }
            if (ec) {
                on_error(ec);
                return;
            }
            is_failing_ = false;
            accepted_(std::move(socket));
            if (!is_stopped_) {
                accept_next();
            }
        });
}

void listener::on_error(const boost::system::error_code& ec) {
    if (ec == asio::error::connection_aborted) {
        accept_next();  // the peer disconnected before it was accepted
        return;
    }
    if (!is_failing_) {
        is_failing_ = true;
        notice_(
            "port " + std::to_string(port_) + " cannot accept: " + ec.message() +
            " (open file limit " + file_limit_text() + "); trying again");
    }
    pause_.expires_after(accept_pause);
    pause_.async_wait([this, self = shared_from_this()](const boost::system::error_code&) {
        if (!is_stopped_) {
            accept_next();
        }
    });
}

}  // namespace reprise::sandbox::detail
