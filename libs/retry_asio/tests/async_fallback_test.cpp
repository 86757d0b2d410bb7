#include <gtest/gtest.h>

#include <memory>

#include <reprise/asio/async_retry.hpp>
#include <reprise/retry/circuit_breaker.hpp>
#include <reprise/retry/fallback.hpp>
#include <reprise/retry/simple_strategy.hpp>
#include <reprise/testing/virtual_clock.hpp>
#include <stdexcept>
#include <string>

#include "chosen_asio.hpp"

namespace reprise::async_fallback_test {

using namespace std::chrono_literals;
namespace asio = testing::asio;
using testing::error_code;

struct table {
    testing::virtual_clock time;
    asio::io_context io;
    retry_history trace;
    async_call_options options{.history = borrowed(&trace), .clock = borrowed(&time)};
    driver::simple_strategy<> rule = attempts(3).every(1s);
    error_code ec = asio::error::would_block;
    int value = -1;
    std::exception_ptr thrown;

    template <class Coroutine>
    void play(Coroutine&& coroutine) {
        thrown = testing::play(io, time, std::forward<Coroutine>(coroutine));
    }
    [[nodiscard]] auto refusing() {
        return [this](const attempt&, auto handler) {
            asio::post(io, [handler = std::move(handler)]() mutable {
                std::move(handler)(error_code(asio::error::connection_refused), 0);
            });
        };
    }
    [[nodiscard]] auto callback() {
        return [this](error_code code, int number) {
            ec = code;
            value = number;
        };
    }
};

asio::awaitable<int> fetch_price() {
    throw std::runtime_error("gone");
    co_return 0;
}

TEST(async_fallback, a_value_completes_the_loop_without_an_error) {
    table t;
    async_retry<void(error_code, int)>(
        t.io, t.rule, t.options, with_fallback(42, t.refusing()), t.callback());
    t.time.run(t.io);
    EXPECT_EQ(t.ec, error_code{});
    EXPECT_EQ(t.value, 42);
    EXPECT_EQ(t.trace.failed_attempts(), 3U);
}

TEST(async_fallback, a_function_sees_the_error_code_of_the_last_attempt) {
    table t;
    const auto explain = [](const failure_view& failure) {
        const auto* code = failure.get_if<error_code>();
        return code != nullptr && *code == asio::error::connection_refused ? 7 : 0;
    };
    async_retry<void(error_code, int)>(
        t.io, t.rule, t.options, with_fallback(explain, t.refusing()), t.callback());
    t.time.run(t.io);
    EXPECT_EQ(t.value, 7);
}

TEST(async_fallback, a_tuple_replaces_all_completion_arguments) {
    table t;
    const std::tuple<error_code, int> both(asio::error::eof, 9);
    async_retry<void(error_code, int)>(
        t.io, t.rule, t.options, with_fallback(both, t.refusing()), t.callback());
    t.time.run(t.io);
    EXPECT_EQ(t.ec, asio::error::eof);
    EXPECT_EQ(t.value, 9);
}

// Once, what a fallback threw always left through `run`, and the handler was never called.
TEST(async_fallback, what_a_function_throws_completes_the_loop_if_the_signature_has_room_for_it) {
    table t;
    const auto fail = []() -> int { throw std::logic_error("no price at all"); };
    const auto hang_up = [&](const attempt&, auto handler) {
        asio::post(t.io, [handler = std::move(handler)]() mutable {
            std::move(handler)(std::make_exception_ptr(std::runtime_error("gone")), 0);
        });
    };
    async_retry<void(std::exception_ptr, int)>(
        t.io, t.rule, t.options, with_fallback(fail, hang_up),
        [&](const std::exception_ptr& error, int) { t.thrown = error; });
    EXPECT_NO_THROW(t.time.run(t.io));
    ASSERT_NE(t.thrown, nullptr);
    EXPECT_THROW(std::rethrow_exception(t.thrown), std::logic_error);
}

TEST(async_fallback, is_not_used_when_the_caller_asked_to_stop) {
    table t;
    std::stop_source stop;
    t.options.stop = stop.get_token();
    t.time.after(500ms, [&] { stop.request_stop(); });
    async_retry<void(error_code, int)>(
        t.io, t.rule, t.options, with_fallback(42, t.refusing()), t.callback());
    t.time.run(t.io);
    EXPECT_EQ(t.ec, asio::error::connection_refused);
    EXPECT_EQ(t.trace.refusal(), refusal_reason::canceled);
}

TEST(async_fallback, a_coroutine_loop_takes_a_value_or_a_coroutine) {
    table t;
    int cached = 0;
    t.play([&]() -> asio::awaitable<void> {
        const auto constant = with_fallback(42, throws_on_failure(fetch_price));
        t.value = co_await async_retry(t.rule, t.options, constant);
        const auto read_cache = []() -> asio::awaitable<int> { co_return 17; };
        const auto from_cache = with_fallback(read_cache, throws_on_failure(fetch_price));
        cached = co_await async_retry(t.rule, t.options, from_cache);
    });
    EXPECT_EQ(t.thrown, nullptr);
    EXPECT_EQ(t.value, 42);
    EXPECT_EQ(cached, 17);
}

TEST(async_fallback, a_canceled_coroutine_ends_with_its_last_failure) {
    table t;
    asio::cancellation_signal signal;
    const auto read_cache = []() -> asio::awaitable<int> { co_return 17; };
    const auto play = [&](auto fallback) -> asio::awaitable<void> {
        const auto guarded = with_fallback(fallback, throws_on_failure(fetch_price));
        t.value = co_await async_retry(t.rule, t.options, guarded);
    };
    const auto start = [&](auto fallback) {
        t.time.after(500ms, [&] { signal.emit(asio::cancellation_type::all); });
        asio::co_spawn(
            t.io, play(fallback),
            asio::bind_cancellation_slot(
                signal.slot(), [&](std::exception_ptr error) { t.thrown = error; }));
        t.io.restart();
        t.time.run(t.io);
    };
    start(42);
    EXPECT_THROW(std::rethrow_exception(t.thrown), std::runtime_error);
    t.thrown = nullptr;
    start(read_cache);
    EXPECT_THROW(std::rethrow_exception(t.thrown), std::runtime_error);
    EXPECT_EQ(t.value, -1);
}

TEST(async_fallback, stands_in_for_attempts_that_were_cut_at_their_timeout) {
    table t;
    t.options.attempt_timeout = 100ms;
    t.play([&]() -> asio::awaitable<void> {
        const auto hang = [&]() -> asio::awaitable<int> {
            asio::steady_timer never(t.io, std::chrono::steady_clock::time_point::max());
            co_await never.async_wait(asio::use_awaitable);
            co_return 0;
        };
        const auto guarded = with_fallback(42, throws_on_failure(hang));
        t.value = co_await async_retry(t.rule, t.options, guarded);
    });
    EXPECT_EQ(t.thrown, nullptr);
    EXPECT_EQ(t.value, 42);
    EXPECT_TRUE(t.trace.entries.back().is_timeout());
    EXPECT_EQ(t.time.now().time_since_epoch(), 2300ms);
}

TEST(async_fallback, is_not_used_when_the_caller_asked_to_stop_during_an_attempt) {
    table t;
    std::stop_source stop;
    t.options.stop = stop.get_token();
    const auto refuse_late = [&](const attempt&, auto handler) {
        asio::post(t.io, [&stop, handler = std::move(handler)]() mutable {
            stop.request_stop();
            std::move(handler)(error_code(asio::error::connection_refused), 0);
        });
    };
    async_retry<void(error_code, int)>(
        t.io, t.rule, t.options, with_fallback(42, refuse_late), t.callback());
    t.time.run(t.io);
    EXPECT_EQ(t.ec, asio::error::connection_refused);
    EXPECT_EQ(t.trace.refusal(), refusal_reason::canceled);
}

TEST(async_fallback, stands_in_for_a_retry_that_a_circuit_breaker_refuses) {
    table t;
    const auto breaker =
        std::make_shared<circuit_breaker>(driver::circuit_breaker_options{.volume_threshold = 4});
    // Other calls open the breaker while this one waits for its retry.
    t.time.after(500ms, [&] {
        for (int index = 0; index < 4; ++index) {
            breaker->on_failure(breaker->try_acquire(t.time.now()), {}, t.time.now());
        }
    });
    std::size_t attempts_made = 0;
    const auto count = [&](const attempt& current, auto handler) {
        ++attempts_made;
        t.refusing()(current, std::move(handler));
    };
    async_retry<void(error_code, int)>(
        t.io, attempts(3).every(1s).breaker(breaker), t.options, with_fallback(42, count),
        t.callback());
    t.time.run(t.io);
    EXPECT_EQ(attempts_made, 1U);
    EXPECT_EQ(t.ec, error_code());
    EXPECT_EQ(t.value, 42);
}

// The fallback is a coroutine, which starts when it is awaited. The view was gone by then.
TEST(async_fallback, a_coroutine_may_refer_to_the_failure) {
    table t;
    std::string seen;
    t.play([&]() -> asio::awaitable<void> {
        const auto explain = [&seen](const failure_view& failure) -> asio::awaitable<int> {
            seen = failure.get_if<std::runtime_error>() != nullptr ? "gone" : "";
            co_return 7;
        };
        const auto operation = with_fallback(explain, throws_on_failure(fetch_price));
        auto pending = async_retry(t.rule, t.options, operation);
        t.value = co_await std::move(pending);
    });
    EXPECT_EQ(t.thrown, nullptr);
    EXPECT_EQ(t.value, 7);
    EXPECT_EQ(seen, "gone");
}

// The coroutine was canceled while the last decision was made. Its fallback could not even start,
// and the operation's own error was lost.
TEST(async_fallback, a_coroutine_that_is_canceled_at_the_last_decision_keeps_its_error) {
    table t;
    asio::cancellation_signal signal;
    int recovered = 0;
    const auto strategy = attempts(1).on_decision(
        [&](const decision_event&) { signal.emit(asio::cancellation_type::all); });
    const auto caller = [&]() -> asio::awaitable<void> {
        const auto explain = [&recovered](const failure_view&) -> asio::awaitable<int> {
            ++recovered;
            co_return 7;
        };
        const auto operation = with_fallback(explain, throws_on_failure(fetch_price));
        auto pending = async_retry(strategy, t.options, operation);
        t.value = co_await std::move(pending);
    };
    asio::co_spawn(
        t.io, caller,
        asio::bind_cancellation_slot(
            signal.slot(), [&](const std::exception_ptr& thrown) { t.thrown = thrown; }));
    t.time.run(t.io);
    ASSERT_NE(t.thrown, nullptr);
    EXPECT_THROW(std::rethrow_exception(t.thrown), std::runtime_error);
    EXPECT_EQ(recovered, 0);
}

// "A caller that asked to stop gets the last error, never the fallback": also if a breaker is open.
TEST(async_fallback, a_caller_that_stopped_gets_none_from_an_open_breaker_either) {
    table t;
    const auto breaker =
        std::make_shared<circuit_breaker>(circuit_breaker::options{.volume_threshold = 1});
    breaker->on_failure(driver::breaker_permit::regular(), {}, t.time.now());
    std::stop_source stop;
    stop.request_stop();
    t.options.stop = stop.get_token();
    async_retry<void(error_code, int)>(
        t.io, attempts(3).breaker(breaker), t.options, with_fallback(42, t.refusing()),
        t.callback());
    t.time.run(t.io);
    EXPECT_EQ(t.ec, retry_errc::circuit_open);
    EXPECT_NE(t.value, 42);
}

TEST(async_fallback, a_caller_that_stops_while_the_last_failure_is_decided_gets_none) {
    table t;
    std::stop_source stop;
    t.options.stop = stop.get_token();
    async_retry<void(error_code, int)>(
        t.io, attempts(1).on_decision([&](const decision_event&) { stop.request_stop(); }),
        t.options, with_fallback(42, t.refusing()), t.callback());
    t.time.run(t.io);
    EXPECT_EQ(t.ec, asio::error::connection_refused);
}

}  // namespace reprise::async_fallback_test
