#include <gtest/gtest.h>

#include <memory>
#include <reprise/asio/async_retry.hpp>
#include <reprise/asio/co_retry.hpp>
#include <reprise/asio/hedge.hpp>
#include <reprise/asio/virtual_timer.hpp>
#include <reprise/retry/simple_strategy.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "chosen_asio.hpp"

namespace reprise::hedge_test {

using namespace std::chrono_literals;
namespace asio = testing::asio;
using testing::error_code;

/// One attempt of the script: it ends after a time, with an error or well.
struct planned {
    duration takes{};
    error_code ends_with{};
};

/// A service whose attempts follow a script in virtual time and can be canceled.
struct replica {
    testing::virtual_timer time;
    asio::io_context io;
    retry_history trace;
    call_options options{.repeat = repeatability::repeatable, .history = &trace, .clock = &time};
    std::vector<planned> script;
    std::size_t started = 0;
    std::size_t canceled = 0;
    error_code ec = asio::error::would_block;
    int value = -1;
    std::exception_ptr thrown;

    explicit replica(std::vector<planned> plan) : script(std::move(plan)) {}

    template <class Handler>
    void read(Handler handler) {
        const std::size_t index = started++;
        const planned plan = script.at(index);
        const detail::pause_request request{time.now() + plan.takes, {}, &time};
        auto slot = asio::get_associated_cancellation_slot(handler);
        auto ended = [this, index, plan, handler = std::move(handler)](bool reached) mutable {
            canceled += reached ? 0U : 1U;
            const error_code code = reached ? plan.ends_with : asio::error::operation_aborted;
            std::move(handler)(code, static_cast<int>(index) + 1);
        };
        detail::async_pause(
            io.get_executor(), request, asio::bind_cancellation_slot(slot, std::move(ended)));
    }
    [[nodiscard]] auto initiate() {
        return [this](const attempt&, auto handler) { read(std::move(handler)); };
    }
    template <class Strategy>
    void ask(Strategy strategy, hedge_options hedging = {.delay = 50ms}) {
        async_retry<void(error_code, int)>(
            io, strategy, options, hedged(std::move(hedging), initiate()),
            [this](error_code code, int number) {
                ec = code;
                value = number;
            });
        time.run(io);
    }
    [[nodiscard]] duration elapsed() { return time.now().time_since_epoch(); }
};

const error_code refused = asio::error::connection_refused;

TEST(hedge, a_fast_attempt_is_not_hedged) {
    replica r({{10ms}});
    r.ask(attempts(3));
    EXPECT_EQ(r.ec, error_code());
    EXPECT_EQ(r.started, 1U);
    EXPECT_EQ(r.elapsed(), 10ms);
    EXPECT_TRUE(r.trace.entries.empty());
}

TEST(hedge, a_slow_attempt_is_hedged_and_the_first_good_answer_wins) {
    replica r({{10s}, {20ms}});
    r.ask(attempts(3));
    EXPECT_EQ(r.ec, error_code());
    EXPECT_EQ(r.value, 2);
    EXPECT_EQ(r.canceled, 1U) << "the slow one";
    EXPECT_EQ(r.elapsed(), 70ms);
    EXPECT_EQ(to_string(r.trace), "+0 ms  attempt 1 still running; hedged by another attempt\n");
    EXPECT_EQ(r.trace.refusal(), refusal_reason::none);
}

TEST(hedge, the_first_attempt_may_still_win) {
    replica r({{60ms}, {10s}});
    r.ask(attempts(3));
    EXPECT_EQ(r.value, 1);
    EXPECT_EQ(r.canceled, 1U);
    EXPECT_EQ(r.elapsed(), 60ms);
}

TEST(hedge, a_failure_waits_for_the_other_attempt) {
    replica r({{60ms, refused}, {30ms}});
    r.ask(attempts(3));
    EXPECT_EQ(r.ec, error_code());
    EXPECT_EQ(r.value, 2);
    EXPECT_EQ(r.elapsed(), 80ms);
}

TEST(hedge, when_all_have_failed_the_strategy_decides_about_the_last_failure) {
    replica r({{60ms, refused}, {30ms, refused}, {1ms}});
    r.ask(attempts(3).every(1s));
    EXPECT_EQ(r.value, 3);
    EXPECT_EQ(r.elapsed(), 1081ms);
    EXPECT_EQ(r.trace.failed_attempts(), 1U);
}

TEST(hedge, an_attempt_that_fails_early_ends_the_wait_for_its_hedge) {
    replica r({{10ms, refused}, {1ms}});
    r.ask(attempts(3).every(1s));
    EXPECT_EQ(r.value, 2);
    EXPECT_EQ(r.elapsed(), 1011ms);
}

TEST(hedge, counts_as_a_retry_and_is_paid_from_the_same_budget) {
    const auto bucket =
        std::make_shared<token_bucket>(token_bucket_options{.capacity = 10, .initial = 5});
    replica r({{200ms}, {200ms}});
    r.ask(attempts(5).budget(bucket), {.delay = 50ms, .attempts_max = 4});
    EXPECT_EQ(r.started, 2U) << "the bucket pays for one";
    EXPECT_EQ(r.trace.entries.back().refusal(), refusal_reason::budget_exhausted);
    EXPECT_NE(to_string(r.trace).find("not hedged: budget exhausted"), std::string::npos);
    replica limited({{200ms}, {200ms}});
    limited.ask(attempts(2), {.delay = 50ms, .attempts_max = 4});
    EXPECT_EQ(limited.started, 2U) << "two attempts in all";
}

TEST(hedge, a_call_that_is_not_marked_as_repeatable_is_refused) {
    replica r({{10ms}});
    for (const repeatability repeat : {repeatability::unspecified, repeatability::not_repeatable}) {
        r.options.repeat = repeat;
        EXPECT_THROW(r.ask(attempts(3)), std::invalid_argument);
    }
    EXPECT_EQ(r.started, 0U);
}

TEST(hedge, the_delay_may_follow_what_was_seen) {
    const auto seen = std::make_shared<latency_histogram>();
    for (int index = 0; index < 19; ++index) {
        seen->record(10ms);
    }
    const hedge_options hedging{.delay = 1s, .seen = seen};
    replica before({{500ms}});
    before.ask(attempts(3), hedging);
    EXPECT_EQ(before.started, 1U) << "19 records are too few: the fixed delay counts";
    EXPECT_EQ(seen->count(), 20U);
    replica after({{500ms}, {1ms}});
    after.ask(attempts(3), hedging);
    EXPECT_EQ(after.started, 2U);
    EXPECT_LE(after.elapsed(), 13ms);
}

TEST(hedge, cancellation_reaches_all_attempts_and_allows_no_more) {
    replica r({{10s}, {10s}});
    asio::cancellation_signal signal;
    r.time.after(70ms, [&] { signal.emit(asio::cancellation_type::all); });
    async_retry<void(error_code, int)>(
        r.io, attempts(9), r.options,
        hedged(hedge_options{.delay = 50ms, .attempts_max = 3}, r.initiate()),
        asio::bind_cancellation_slot(signal.slot(), [&](error_code code, int) { r.ec = code; }));
    r.time.run(r.io);
    EXPECT_EQ(r.ec, asio::error::operation_aborted);
    EXPECT_EQ(r.started, 2U);
    EXPECT_EQ(r.canceled, 2U);
    EXPECT_EQ(r.elapsed(), 70ms);
}

TEST(hedge, a_slow_coroutine_is_hedged) {
    replica r({{10s}, {20ms}});
    const auto play = [&]() -> asio::awaitable<void> {
        const auto fetch = hedged(50ms, [&]() -> asio::awaitable<int> {
            auto initiation = [&r](auto handler) { r.read(std::move(handler)); };
            auto pending =
                asio::async_initiate<const asio::use_awaitable_t<>, void(error_code, int)>(
                    initiation, asio::use_awaitable);
            co_return co_await std::move(pending);
        });
        r.value = co_await async_retry(attempts(3), r.options, fetch);
    };
    asio::co_spawn(r.io, play, [&](std::exception_ptr error) { r.thrown = error; });
    r.time.run(r.io);
    EXPECT_EQ(r.thrown, nullptr);
    EXPECT_EQ(r.value, 2);
    EXPECT_EQ(r.canceled, 1U);
    EXPECT_EQ(r.elapsed(), 70ms);
}

TEST(hedge, a_hedged_coroutine_under_a_limit_throws_its_last_failure) {
    replica r({{10s}, {10s}});
    r.options.attempt_timeout = 100ms;
    const auto play = [&]() -> asio::awaitable<void> {
        const auto fetch = hedged(50ms, [&]() -> asio::awaitable<int> {
            auto initiation = [&r](auto handler) { r.read(std::move(handler)); };
            auto pending =
                asio::async_initiate<const asio::use_awaitable_t<>, void(error_code, int)>(
                    initiation, asio::use_awaitable);
            co_return co_await std::move(pending);
        });
        r.value = co_await async_retry(attempts(2), r.options, fetch);
    };
    asio::co_spawn(r.io, play, [&](std::exception_ptr error) { r.thrown = error; });
    r.time.run(r.io);
    EXPECT_NE(r.thrown, nullptr);
    EXPECT_EQ(r.elapsed(), 150ms);
    EXPECT_TRUE(r.trace.entries.back().is_timeout());
}

}  // namespace reprise::hedge_test
