#pragma once

#include <exception>
#include <string>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

namespace coroutines {

namespace asio = boost::asio;

// Too long for a string's own buffer: freed memory is seen. Short ones point into themselves: a
// copy made byte by byte is seen, too.
inline const std::string long_text(100, 'x');
inline const std::string short_text = "x";

// Runs a coroutine to its end; what it throws is thrown here.
inline void play(asio::awaitable<void> coroutine) {
    asio::io_context io;
    std::exception_ptr thrown;
    asio::co_spawn(
        io, std::move(coroutine), [&](const std::exception_ptr& error) { thrown = error; });
    io.run();
    if (thrown) {
        std::rethrow_exception(thrown);
    }
}

}  // namespace coroutines
