#include <boost/asio.hpp>
#include <reprise/asio/async_retry.hpp>
#include <reprise/retry.hpp>
int main() {
    boost::asio::io_context io;
    const reprise::async_call_options options{.timeout = std::chrono::milliseconds{50}};
    const auto fetch = []() -> boost::asio::awaitable<std::string> {
        throw std::runtime_error("down");
        co_return "";
    };
    boost::asio::co_spawn(
        io, reprise::async_retry(reprise::unlimited_attempts(), options, fetch),
        [](const std::exception_ptr& error, const std::string&) { std::exit(error ? 0 : 1); });
    io.run();
}
