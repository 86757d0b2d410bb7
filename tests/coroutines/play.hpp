#pragma once

#include <exception>
#include <string>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

namespace coroutines {

namespace asio = boost::asio;

// Too long for a string's inline buffer, so that a use after free is detected. A short string
// points into itself, so that a bytewise copy is detected, too.
inline const std::string long_text(100, 'x');
inline const std::string short_text = "x";

// Runs a coroutine to its end and rethrows its exception.
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
