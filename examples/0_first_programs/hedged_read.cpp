#include <boost/asio.hpp>
#include <reprise/asio/async_retry.hpp>
#include <reprise/retry.hpp>
int main() {
    boost::asio::io_context io;
    const reprise::async_call_options options{.repeat = reprise::repeatability::repeatable};
    int calls = 0;
    auto read = reprise::hedged(reprise::hedge_options{}, [&]() -> boost::asio::awaitable<void> {
        boost::asio::steady_timer timer(io, std::chrono::seconds{++calls == 1 ? 60 : 0});
        co_await timer.async_wait(boost::asio::use_awaitable);
    });
    boost::asio::co_spawn(
        io, reprise::async_retry(reprise::attempts(2), options, read), boost::asio::detached);
    return io.run() > 0 && calls == 2 ? 0 : 1;
}
