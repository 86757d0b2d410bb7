#pragma once

#include <chrono>
#include <cstdint>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

namespace reprise::net::testing {

// Long enough for anything to happen on a busy machine.
inline constexpr std::chrono::seconds patience{20};

// Runs handlers until the condition holds. Returns false if the condition does not hold in time, or
// if no handler is left.
template <class Condition>
[[nodiscard]] bool run_until(boost::asio::io_context& loop, Condition holds) {
    const auto end = std::chrono::steady_clock::now() + patience;
    while (!holds()) {
        loop.restart();
        if (loop.run_one_until(end) == 0) {
            return holds();
        }
    }
    return true;
}

inline boost::asio::ip::tcp::endpoint any_loopback_port() {
    return {boost::asio::ip::address_v4::loopback(), 0};
}

// Returns a loopback port without a listener.
inline std::uint16_t unused_port() {
    boost::asio::io_context loop;
    const boost::asio::ip::tcp::acceptor taken(loop, any_loopback_port());
    return taken.local_endpoint().port();
}

}  // namespace reprise::net::testing
