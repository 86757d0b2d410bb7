#pragma once

#include <chrono>
#include <cstdint>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

namespace reprise::net::testing {

// Long enough for anything that happens at all on a busy machine.
inline constexpr std::chrono::seconds patience{20};

// Runs handlers until the condition holds. False: it did not come to hold, or nothing is left that
// could make it hold.
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

// A port of loopback on which nobody listens.
inline std::uint16_t unused_port() {
    boost::asio::io_context loop;
    const boost::asio::ip::tcp::acceptor taken(loop, any_loopback_port());
    return taken.local_endpoint().port();
}

}  // namespace reprise::net::testing
