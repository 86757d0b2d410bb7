/// A coroutine that connects, asks and reads, retried as a whole, with a deadline for everything
/// and a timeout for each attempt.

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>
#include <iostream>
#include <reprise/asio/async_retry.hpp>
#include <reprise/retry.hpp>
#include <string>

namespace asio = boost::asio;
using asio::ip::tcp;
using namespace std::chrono_literals;

/// A service on loopback: does not answer the first caller, hangs up on the second, answers the
/// third.
asio::awaitable<void> moody_service(tcp::acceptor& acceptor) {
    std::vector<tcp::socket> ignored;
    ignored.push_back(co_await acceptor.async_accept(asio::use_awaitable));
    {
        const tcp::socket closed = co_await acceptor.async_accept(asio::use_awaitable);
    }
    tcp::socket last = co_await acceptor.async_accept(asio::use_awaitable);
    const std::string answer = "21 degrees\n";
    co_await asio::async_write(last, asio::buffer(answer), asio::use_awaitable);
}

asio::awaitable<std::string> ask(tcp::endpoint service) {
    tcp::socket socket(co_await asio::this_coro::executor);
    co_await socket.async_connect(service, asio::use_awaitable);
    std::string answer;
    co_await asio::async_read_until(
        socket, asio::dynamic_buffer(answer), '\n', asio::use_awaitable);
    co_return answer;
}

// [retry]
asio::awaitable<std::string> ask_until_answered(
    reprise::standard_strategy& strategy, tcp::endpoint service, reprise::retry_history& history) {
    const reprise::async_call_options options{
        .timeout = 10s, .attempt_timeout = 300ms, .history = reprise::borrowed(&history)};
    co_return co_await reprise::async_retry(strategy, options, [service] { return ask(service); });
}
// [/retry]

int main() {
    asio::io_context io;
    tcp::acceptor acceptor(io, {asio::ip::address_v4::loopback(), 0});
    reprise::standard_strategy strategy({.backoff = {.base = 10ms}});
    reprise::retry_history history;
    std::string answer;
    asio::co_spawn(io, moody_service(acceptor), asio::detached);
    asio::co_spawn(
        io, ask_until_answered(strategy, acceptor.local_endpoint(), history),
        [&](const std::exception_ptr& error, std::string text) {
            answer = error ? "no answer\n" : std::move(text);
        });
    io.run();
    std::cout << answer << history;
    return answer == "21 degrees\n" && history.failed_attempts() == 2 ? 0 : 1;
}
