/// A read that is slow now and then: after 20 ms a second one starts in parallel.

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <iostream>
#include <reprise/asio/async_retry.hpp>
#include <reprise/asio/hedge.hpp>
#include <reprise/retry.hpp>
#include <string>

namespace asio = boost::asio;
using namespace std::chrono_literals;

/// The first reader is stuck for a minute; the next ones answer at once.
asio::awaitable<std::string> read_replica() {
    static int calls = 0;
    const auto takes = ++calls == 1 ? 60s : 0s;
    asio::steady_timer timer(co_await asio::this_coro::executor, takes);
    co_await timer.async_wait(asio::use_awaitable);
    co_return "21 degrees";
}

// [hedge]
asio::awaitable<void> read(reprise::retry_history& history, std::string& answer) {
    const reprise::async_call_options options{
        .repeat = reprise::repeatability::repeatable, .history = reprise::borrowed(&history)};
    const auto hedged_read = reprise::hedged(20ms, read_replica);
    answer = co_await reprise::async_retry(reprise::attempts(3), options, hedged_read);
}
// [/hedge]

int main() {
    asio::io_context io;
    reprise::retry_history history;
    std::string answer;
    asio::co_spawn(io, read(history, answer), [](const std::exception_ptr&) {});
    io.run();
    std::cout << answer << ", after:\n" << history;
    return answer == "21 degrees" && history.entries.size() == 1 ? 0 : 1;
}
