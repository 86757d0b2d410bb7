/// The Asio forms on the standalone Asio: each once. What they do is tested with Boost's.

#include <gtest/gtest.h>

#include <asio/co_spawn.hpp>
#include <asio/error.hpp>
#include <asio/io_context.hpp>
#include <asio/post.hpp>
#include <asio/steady_timer.hpp>
#include <asio/use_awaitable.hpp>
#include <reprise/asio/async_retry.hpp>
#include <reprise/asio/hedge.hpp>
#include <reprise/retry.hpp>
#include <reprise/testing/virtual_clock.hpp>
#include <stdexcept>

#include "chosen_asio.hpp"

namespace reprise::standalone_test {

using namespace std::chrono_literals;
namespace asio = ::asio;

struct shop {
    testing::virtual_clock time;
    asio::io_context io;
    retry_history trace;
    async_call_options options{
        .repeat = repeatability::repeatable, .history = borrowed(&trace), .clock = borrowed(&time)};
    int calls = 0;
    int value = 0;
    std::error_code ec = make_error_code(std::errc::io_error);
    std::exception_ptr thrown;

    template <class Coroutine>
    void play(Coroutine&& coroutine) {
        thrown = testing::play(io, time, std::forward<Coroutine>(coroutine));
    }
};

TEST(standalone, a_completion_token_loop_retries_error_codes_of_asio) {
    shop s;
    async_retry<void(std::error_code)>(
        s.io, attempts(3).every(1s), s.options,
        [&](const attempt&, auto handler) {
            asio::post(s.io, [&s, handler = std::move(handler)]() mutable {
                const bool is_bad = ++s.calls < 3;
                std::move(handler)(is_bad ? make_error_code(asio::error::eof) : std::error_code());
            });
        },
        [&](std::error_code code) { s.ec = code; });
    s.time.run(s.io);
    EXPECT_EQ(s.ec, std::error_code());
    EXPECT_EQ(s.calls, 3);
    EXPECT_EQ(s.trace.message_of(s.trace.entries[0]), "end of file");
    EXPECT_EQ(facts_of(make_error_code(asio::error::eof)).safety, retry_safety::maybe);
    EXPECT_EQ(
        facts_of(make_error_code(asio::error::host_not_found_try_again)).safety, retry_safety::yes);
}

// The category of this Asio's system errors equals no condition of the standard library. Once, that
// hid a refused connection: it was not retried.
TEST(standalone, errors_of_the_system_have_facts) {
    EXPECT_EQ(facts_of(make_error_code(asio::error::connection_refused)).safety, retry_safety::yes);
    EXPECT_EQ(facts_of(make_error_code(asio::error::connection_reset)).safety, retry_safety::maybe);
    EXPECT_TRUE(facts_of(make_error_code(asio::error::timed_out)).timeout);
    EXPECT_EQ(facts_of(make_error_code(asio::error::operation_aborted)).safety, std::nullopt);
}

TEST(standalone, a_loop_without_a_token_is_awaited) {
    shop s;
    s.play([&]() -> asio::awaitable<void> {
        const auto ask = [&](const attempt&, auto handler) {
            const bool is_bad = ++s.calls < 3;
            std::move(handler)(is_bad ? make_error_code(asio::error::eof) : std::error_code(), 42);
        };
        s.value = co_await async_retry<void(std::error_code, int)>(
            s.io, attempts(3).every(1s), s.options, ask);
    });
    EXPECT_EQ(s.thrown, nullptr);
    EXPECT_EQ(s.value, 42);
    EXPECT_EQ(s.calls, 3);
}

TEST(standalone, a_coroutine_loop_retries_exceptions_and_takes_a_fallback) {
    shop s;
    s.play([&]() -> asio::awaitable<void> {
        const auto fetch = [&]() -> asio::awaitable<int> {
            ++s.calls;
            throw std::runtime_error("down");
            co_return 0;
        };
        const auto guarded = with_fallback(42, throws_on_failure(fetch));
        s.value = co_await async_retry(attempts(3).every(1s), s.options, guarded);
    });
    EXPECT_EQ(s.thrown, nullptr);
    EXPECT_EQ(s.value, 42);
    EXPECT_EQ(s.calls, 3);
}

TEST(standalone, a_slow_coroutine_is_hedged_and_cut_at_its_limit) {
    shop s;
    s.options.attempt_timeout = 1s;
    s.play([&]() -> asio::awaitable<void> {
        const auto hang = hedged(50ms, [&]() -> asio::awaitable<std::string> {
            ++s.calls;
            asio::steady_timer never(s.io, std::chrono::steady_clock::time_point::max());
            co_await never.async_wait(asio::use_awaitable);
            co_return "";
        });
        co_await async_retry(attempts(2), s.options, hang);
    });
    EXPECT_NE(s.thrown, nullptr);
    EXPECT_EQ(s.calls, 2);
    EXPECT_EQ(s.time.now().time_since_epoch(), 1050ms);
    EXPECT_TRUE(s.trace.entries.back().is_timeout());
}

}  // namespace reprise::standalone_test
