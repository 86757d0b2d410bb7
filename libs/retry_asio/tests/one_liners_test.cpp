#include <gtest/gtest.h>

#include <memory>
#include <reprise/asio/async_retry.hpp>
#include <reprise/retry/simple_strategy.hpp>
#include <reprise/testing/virtual_clock.hpp>
#include <stdexcept>

#include "chosen_asio.hpp"

namespace reprise::one_liners_test {

using namespace std::chrono_literals;
namespace asio = testing::asio;
using testing::error_code;

struct busy : std::runtime_error {
    busy() : std::runtime_error("busy") {}
};

struct bench {
    testing::virtual_clock time;
    asio::io_context io;
    retry_history trace;
    async_call_options options{.history = borrowed(&trace), .clock = borrowed(&time)};
    int calls = 0;
    int value = 0;
    std::exception_ptr thrown;

    template <class Coroutine>
    void play(Coroutine&& coroutine) {
        thrown = testing::play(io, time, std::forward<Coroutine>(coroutine));
    }
    /// Completes with `failure` until call number `good`.
    [[nodiscard]] auto completing(error_code failure, int good) {
        return [this, failure, good](const attempt&, auto handler) {
            const error_code result = ++calls < good ? failure : error_code{};
            asio::post(io, [handler = std::move(handler), result]() mutable {
                std::move(handler)(result);
            });
        };
    }
};

TEST(one_liners, a_coroutine_is_retried_by_the_rule_in_place) {
    bench b;
    b.play([&]() -> asio::awaitable<void> {
        const auto fetch = throws_on_failure([&]() -> asio::awaitable<int> {
            if (++b.calls < 3) {
                throw busy();
            }
            co_return b.calls;
        });
        b.value = co_await async_retry(attempts(3).every(100ms).on<busy>(), b.options, fetch);
    });
    EXPECT_EQ(b.thrown, nullptr);
    EXPECT_EQ(b.value, 3);
    EXPECT_EQ(b.time.now().time_since_epoch(), 200ms);
}

TEST(one_liners, a_coroutine_without_options_takes_a_rule_in_place) {
    bench b;
    b.play([&]() -> asio::awaitable<void> {
        const auto fetch = [&]() -> asio::awaitable<void> {
            ++b.calls;
            throw busy();
            co_return;
        };
        co_await async_retry(attempts(3).every(0ms), fetch);
    });
    EXPECT_NE(b.thrown, nullptr);
    EXPECT_EQ(b.calls, 3);
}

TEST(one_liners, a_completion_token_loop_keeps_the_rule_until_it_completes) {
    bench b;
    error_code seen = asio::error::would_block;
    {
        const auto bucket = std::make_shared<token_bucket>();
        async_retry<void(error_code)>(
            b.io, attempts(4).linear(100ms).budget(bucket), b.options,
            b.completing(asio::error::no_permission, 3), [&](error_code code) { seen = code; });
    }
    b.time.run(b.io);
    EXPECT_EQ(seen, error_code{});
    EXPECT_EQ(b.calls, 3);
    EXPECT_EQ(b.time.now().time_since_epoch(), 300ms);
}

TEST(one_liners, a_predicate_sees_the_error_code_of_a_completion) {
    bench b;
    error_code seen;
    const auto rule = attempts(4).every(1ms).when(
        [](const error_code& code) { return code == asio::error::try_again; });
    async_retry<void(error_code)>(
        b.io, rule, b.options, b.completing(asio::error::no_permission, 3),
        [&](error_code code) { seen = code; });
    b.time.run(b.io);
    EXPECT_EQ(seen, asio::error::no_permission);
    EXPECT_EQ(b.calls, 1);
    EXPECT_EQ(b.trace.refusal(), refusal_reason::predicate_refused);
}

TEST(one_liners, a_deferred_loop_keeps_the_rule_until_it_is_awaited) {
    bench b;
    auto initiate = b.completing(asio::error::no_permission, 2);
    auto operation = async_retry<void(error_code)>(
        b.io, attempts(2).every(1ms), b.options, initiate, testing::deferred);
    error_code seen = asio::error::would_block;
    std::move(operation)([&](error_code code) { seen = code; });
    b.time.run(b.io);
    EXPECT_EQ(seen, error_code{});
}

TEST(one_liners, attempts_of_both_forms_can_read_the_calls_clock) {
    bench b;
    b.time.advance(7s);
    b.play([&]() -> asio::awaitable<void> {
        const auto fetch = [&](attempt a) -> asio::awaitable<void> {
            EXPECT_EQ(a.now(), time_point{} + 7s);
            EXPECT_EQ(a.calendar_time(), b.time.calendar_time());
            co_return;
        };
        co_await async_retry(attempts(1), b.options, fetch);
    });
    EXPECT_EQ(b.thrown, nullptr);
    async_retry<void(error_code)>(
        b.io, attempts(1), b.options,
        [&](const attempt& a, auto handler) {
            EXPECT_EQ(a.now(), time_point{} + 7s);
            std::move(handler)(error_code{});
        },
        [&](error_code code) { EXPECT_EQ(code, error_code{}); });
    b.time.run(b.io);
}

}  // namespace reprise::one_liners_test
