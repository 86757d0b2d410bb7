#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <reprise/asio/async_retry.hpp>
#include <reprise/asio/hedge.hpp>
#include <reprise/retry/simple_strategy.hpp>
#include <reprise/testing/virtual_clock.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "chosen_asio.hpp"

namespace reprise::async_breaker_test {

using namespace std::chrono_literals;
namespace asio = testing::asio;
using testing::error_code;

struct outage {
    testing::virtual_clock time;
    asio::io_context io;
    retry_history trace;
    async_call_options options{.history = borrowed(&trace), .clock = borrowed(&time)};
    std::shared_ptr<circuit_breaker> breaker =
        std::make_shared<circuit_breaker>(driver::circuit_breaker_options{.volume_threshold = 2});
    error_code ec = asio::error::would_block;
    int value = -1;
    int calls = 0;
    bool is_up = false;
    std::vector<std::string> ended;  // the last error of each call

    [[nodiscard]] auto service() {
        return [this](const attempt&, auto handler) {
            ++calls;
            const error_code code = is_up ? error_code() : asio::error::connection_refused;
            asio::post(io, [handler = std::move(handler), code]() mutable {
                std::move(handler)(code, 1);
            });
        };
    }
    template <class Initiate>
    void ask(Initiate initiate) {
        bool is_inside = true;
        const auto strategy = attempts(5).every(1s).breaker(breaker).on_completion(
            [this](const call_summary& call) { ended.push_back(call.last_error.text()); });
        async_retry<void(error_code, int)>(
            io, strategy, options, std::move(initiate), [&, this](error_code code, int number) {
                EXPECT_FALSE(is_inside) << "a handler never runs inside its initiating call";
                ec = code;
                value = number;
            });
        is_inside = false;
        time.run(io);
        io.restart();
    }
};

TEST(async_breaker, ends_a_loop_with_its_own_error_and_refuses_the_next) {
    outage o;
    o.ask(o.service());
    EXPECT_EQ(o.ec, asio::error::connection_refused);
    EXPECT_EQ(o.calls, 2);
    EXPECT_EQ(o.trace.refusal(), refusal_reason::circuit_open);
    o.ask(o.service());
    EXPECT_EQ(std::error_code(o.ec), retry_errc::circuit_open);
    EXPECT_EQ(o.calls, 2);
}

TEST(async_breaker, a_fallback_stands_in_and_a_probe_closes_it) {
    outage o;
    o.ask(o.service());
    o.ask(with_fallback(42, o.service()));
    EXPECT_EQ(o.ec, error_code());
    EXPECT_EQ(o.value, 42);
    o.time.advance(5s);
    o.is_up = true;
    o.ask(o.service());
    EXPECT_EQ(o.ec, error_code());
    EXPECT_EQ(o.breaker->state(), circuit_state::closed);
}

TEST(async_breaker, a_coroutine_loop_throws_or_returns_its_fallback) {
    outage o;
    o.ask(o.service());
    std::exception_ptr thrown;
    const auto play = [&]() -> asio::awaitable<void> {
        const auto rule = attempts(3).breaker(o.breaker);
        const auto fetch = throws_on_failure([]() -> asio::awaitable<int> { co_return 1; });
        const auto guarded = with_fallback(42, fetch);
        o.value = co_await async_retry(rule, o.options, guarded);
        const auto cached = with_fallback([]() -> asio::awaitable<int> { co_return 17; }, fetch);
        o.value += co_await async_retry(rule, o.options, cached);
        co_await async_retry(rule, o.options, fetch);
    };
    asio::co_spawn(o.io, play, [&](std::exception_ptr error) { thrown = error; });
    o.time.run(o.io);
    EXPECT_EQ(o.value, 59);
    ASSERT_NE(thrown, nullptr);
    EXPECT_THROW(std::rethrow_exception(thrown), retry_error);
}

// The observer was not notified, and the probe stayed out until its timeout.
TEST(async_breaker, an_initiating_function_that_throws_ends_the_call_for_observers_too) {
    struct row {
        std::optional<duration> attempt_timeout;
        bool is_hedged;
    };
    for (const row& how : {row{}, row{1s, false}, row{std::nullopt, true}, row{1s, true}}) {
        outage o;
        o.options.attempt_timeout = how.attempt_timeout;
        o.options.repeat = repeatability::repeatable;
        o.ask(o.service());
        o.time.advance(1min);
        o.ended.clear();
        const auto initiate = [](const attempt&, auto) { throw std::runtime_error("no memory"); };
        if (how.is_hedged) {
            EXPECT_THROW(o.ask(hedged(1s, initiate)), std::runtime_error);
        } else {
            EXPECT_THROW(o.ask(initiate), std::runtime_error);
        }
        EXPECT_EQ(o.ended, std::vector<std::string>{"no memory"});
        EXPECT_EQ(o.breaker->state(), circuit_state::open) << "the probe has failed";
    }
}

/// A service that does not answer.
[[nodiscard]] auto silent_service(outage& o) {
    return throws_on_failure([&o]() -> asio::awaitable<int> {
        ++o.calls;
        asio::steady_timer timer(o.io, std::chrono::steady_clock::time_point::max());
        auto pending = timer.async_wait(asio::use_awaitable);
        co_await std::move(pending);
        co_return 1;
    });
}

/// Runs until idle. What is due at the same time is noticed at the same time.
void run_together(outage& o) {
    do {
        o.time.advance({});
        o.io.restart();
        o.io.poll();
    } while (o.time.advance_to_next());
}

// Both limits were reached at the same time, and the inner loop took the signal of the outer one
// for its caller's: the breaker never saw a timeout.
TEST(async_breaker, a_limit_that_an_outer_loop_shares_counts_as_a_timeout) {
    outage o;
    const auto inner = attempts(1).breaker(o.breaker);
    const auto call = [&](const attempt& outer) -> asio::awaitable<int> {
        const async_call_options options{
            .deadline = outer.deadline, .history = o.options.history, .clock = o.options.clock};
        const auto fetch = silent_service(o);
        auto pending = async_retry(inner, options, fetch);
        co_return co_await std::move(pending);
    };
    const auto play = [&]() -> asio::awaitable<void> {
        const async_call_options options{.attempt_timeout = 100ms, .clock = o.options.clock};
        const auto fetch = throws_on_failure(call);
        auto pending = async_retry(attempts(1), options, fetch);
        o.value = co_await std::move(pending);
    };
    for (int failed = 1; failed <= 2; ++failed) {
        asio::co_spawn(o.io, play, [](std::exception_ptr error) { EXPECT_NE(error, nullptr); });
        run_together(o);
        EXPECT_EQ(o.calls, failed);
        EXPECT_TRUE(o.trace.entries.back().is_timeout());
    }
    EXPECT_EQ(o.breaker->state(), circuit_state::open);
}

// The limit was reached, but the loop noticed the signal first.
TEST(async_breaker, a_signal_at_the_limit_of_an_attempt_does_not_hide_the_timeout) {
    outage o;
    o.options.attempt_timeout = 100ms;
    const auto rule = attempts(3).every(1s).breaker(o.breaker);
    const auto play = [&]() -> asio::awaitable<void> {
        const auto fetch = silent_service(o);
        auto pending = async_retry(rule, o.options, fetch);
        o.value = co_await std::move(pending);
    };
    for (int failed = 1; failed <= 2; ++failed) {
        asio::cancellation_signal signal;
        o.time.after(100ms, [&] {
            asio::post(o.io, [&signal] { signal.emit(asio::cancellation_type::terminal); });
        });
        asio::co_spawn(
            o.io, play, asio::bind_cancellation_slot(signal.slot(), [](std::exception_ptr error) {
                EXPECT_NE(error, nullptr);
            }));
        run_together(o);
        EXPECT_EQ(o.calls, failed) << "no retry follows a signal";
        EXPECT_TRUE(o.trace.entries.back().is_timeout());
        EXPECT_EQ(o.trace.refusal(), refusal_reason::canceled);
    }
    EXPECT_EQ(o.breaker->state(), circuit_state::open);
}

}  // namespace reprise::async_breaker_test
