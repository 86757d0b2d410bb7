#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <limits>
#include <memory>
#include <random>
#include <reprise/asio/async_retry.hpp>
#include <reprise/asio/hedge.hpp>
#include <reprise/retry/budget.hpp>
#include <reprise/retry/circuit_breaker.hpp>
#include <reprise/retry/simple_strategy.hpp>
#include <reprise/testing/virtual_clock.hpp>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "chosen_asio.hpp"
#include "hedged_replica.hpp"

namespace reprise::hedge_test {

using namespace std::chrono_literals;
namespace asio = testing::asio;
using testing::error_code;

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
    EXPECT_EQ(to_string(r.trace), "+50 ms  attempt 1 still running; hedged by another attempt\n");
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

TEST(hedge, observers_see_all_attempts_and_the_failure_of_a_loser) {
    std::vector<call_summary> calls;
    replica r({{60ms, refused}, {30ms}});
    r.ask(attempts(3).on_completion([&](const call_summary& call) { calls.push_back(call); }));
    ASSERT_EQ(calls.size(), 1U);
    EXPECT_TRUE(calls[0].is_success);
    EXPECT_EQ(calls[0].attempts, 2U);
    EXPECT_EQ(calls[0].total_time, 80ms);
    EXPECT_EQ(calls[0].last_failure.code, static_cast<std::uint32_t>(refused.value()));
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
        std::make_shared<token_bucket>(token_bucket::options{.capacity = 10, .initial = 5});
    replica r({{200ms}, {200ms}, {200ms}, {200ms}});
    r.ask(attempts(5).budget(bucket), {.delay = 50ms, .attempts_max = 4});
    EXPECT_EQ(r.started, 2U) << "the bucket pays for one";
    EXPECT_EQ(r.trace.entries.back().refusal(), refusal_reason::budget_exhausted);
    EXPECT_NE(to_string(r.trace).find("not hedged: budget exhausted"), std::string::npos);
    replica limited({{200ms}, {200ms}, {200ms}, {200ms}});
    limited.ask(attempts(2), {.delay = 50ms, .attempts_max = 4});
    EXPECT_EQ(limited.started, 2U) << "two attempts in all";
    EXPECT_EQ(limited.trace.entries.back().refusal(), refusal_reason::attempts_exhausted);
    driver::retry_allowance spent(0);
    replica inner({{200ms}, {200ms}});
    inner.options.outer_allowance = borrowed(&spent);
    inner.ask(attempts(2));
    EXPECT_EQ(inner.trace.entries.back().refusal(), refusal_reason::outer_allowance);
}

TEST(hedge, a_call_that_is_not_marked_as_repeatable_is_refused) {
    replica r({{10ms}});
    for (const repeatability repeat : {repeatability::unspecified, repeatability::not_repeatable}) {
        r.options.repeat = repeat;
        EXPECT_THROW(r.ask(attempts(3)), invalid_settings);
    }
    EXPECT_EQ(r.started, 0U);
}

TEST(hedge, contradictions_are_refused_by_name) {
    const auto field_of = [](const hedge_options& options) {
        const auto error = check(options);
        return error ? error->field : "";
    };
    EXPECT_EQ(field_of({}), "");
    EXPECT_EQ(field_of({.delay = -1ms}), "delay");
    EXPECT_EQ(field_of({.attempts_max = 0}), "attempts_max");
    EXPECT_EQ(field_of({.attempts_max = 17}), "attempts_max");
    EXPECT_EQ(field_of({.percentile = 95.0}), "percentile");
    EXPECT_EQ(field_of({.percentile = std::numeric_limits<double>::quiet_NaN()}), "percentile");
    EXPECT_EQ(field_of({.seen_min = 20, .seen_max = 39}), "seen_max");
    EXPECT_EQ(field_of({.seen_min = 20, .seen_max = 40}), "");
    const auto seen = std::make_shared<first_attempt_latencies>();
    EXPECT_EQ(field_of({.delay = 2s, .seen = seen}), "delay_max");
    EXPECT_EQ(field_of({.delay = 2s, .seen = seen, .delay_max = 2s}), "");
    EXPECT_EQ(field_of({.delay = 2s}), "") << "a fixed delay has no maximum";
    EXPECT_THROW(static_cast<void>(hedged(-1ms, [] { return 1; })), invalid_settings);
}

TEST(hedge, the_delay_may_follow_what_was_seen) {
    const auto seen = std::make_shared<first_attempt_latencies>();
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

// The slow attempts are those that are canceled. Once, only winners were recorded, so the
// percentile sank, and of these calls 173 were hedged instead of about 100.
TEST(hedge, a_percentile_keeps_its_meaning_although_slow_attempts_are_canceled) {
    const auto seen = std::make_shared<first_attempt_latencies>();
    const hedge_options hedging{.delay = 1s, .seen = seen, .percentile = 0.9};
    std::mt19937 random(1);
    const auto takes = [&] { return planned{duration(1s) / (random() % 1000 + 1)}; };
    constexpr std::size_t call_count = 1000;
    std::size_t hedge_count = 0;
    for (std::size_t call = 0; call < call_count; ++call) {
        replica r({takes(), takes()});
        r.ask(attempts(2), hedging);
        hedge_count += r.started - 1;
    }
    EXPECT_GT(hedge_count, call_count / 50);
    EXPECT_LT(hedge_count, call_count / 7);
}

// A histogram that never forgot would still be at 100 ms: a sixth of all records.
TEST(hedge, a_percentile_follows_a_service_that_becomes_faster) {
    const auto seen = std::make_shared<first_attempt_latencies>();
    const hedge_options hedging{.delay = 1s, .seen = seen, .seen_max = 100};
    const auto call = [&](duration takes, std::size_t count) {
        for (std::size_t each = 0; each < count; ++each) {
            replica r({{takes}, {takes}});
            r.ask(attempts(2), hedging);
        }
    };
    call(100ms, 100);
    EXPECT_GE(hedging.current_delay(), 100ms);
    EXPECT_EQ(seen->count(), 50U);
    call(1ms, 500);
    EXPECT_LT(hedging.current_delay(), 2ms);
    EXPECT_LT(seen->count(), 100U);
}

TEST(hedge, a_percentile_among_attempts_that_were_not_left_to_end_is_unknown) {
    first_attempt_latencies seen;
    EXPECT_EQ(seen.percentile(0.5), std::nullopt) << "no records";
    for (int each = 0; each < 9; ++each) {
        seen.record(5us);
    }
    seen.record_unfinished();
    EXPECT_EQ(seen.count(), 10U);
    EXPECT_EQ(seen.percentile(0.9), 5us);
    EXPECT_EQ(seen.percentile(0.91), std::nullopt);
    EXPECT_EQ(seen.percentile(0.0), 5us);
    EXPECT_EQ(seen.percentile(std::numeric_limits<double>::quiet_NaN()), 5us);
    seen.bound(11);
    EXPECT_EQ(seen.count(), 10U) << "not that many yet";
    seen.bound(10);
    EXPECT_EQ(seen.count(), 4U);
    seen.bound(10);
    EXPECT_EQ(seen.count(), 4U);
}

// Each thread found too many records and halved them, one after the other.
TEST(hedge, records_are_halved_once_by_several_threads_at_the_limit) {
    constexpr std::uint64_t count_max = 1000;
    constexpr std::ptrdiff_t thread_count = 4;
    first_attempt_latencies seen;
    std::barrier start(thread_count);
    std::atomic<std::uint64_t> fewest = count_max;
    const auto record_and_bound = [&] {
        for (int round = 0; round < 300; ++round) {
            start.arrive_and_wait();
            while (seen.count() < count_max) {
                seen.record(5us);
            }
            start.arrive_and_wait();
            seen.bound(count_max);
            start.arrive_and_wait();
            fewest = std::min(fewest.load(), seen.count());
        }
    };
    std::vector<std::thread> threads;
    for (std::ptrdiff_t each = 0; each < thread_count; ++each) {
        threads.emplace_back(record_and_bound);
    }
    for (std::thread& each : threads) {
        each.join();
    }
    EXPECT_GE(fewest.load(), count_max / 2);
}

/// A service with a share of slow attempts, called with hedges that follow its latencies.
struct uneven_service {
    std::shared_ptr<first_attempt_latencies> seen = std::make_shared<first_attempt_latencies>();
    hedge_options hedging{.seen = seen};
    std::mt19937 random{1};
    replica service{{}};
    duration shortest = duration::max();  ///< The delays after each call of the last `run`.
    duration longest{};

    void run(std::size_t calls, unsigned slow_percent, duration slow, duration fast) {
        const auto takes = [&] { return planned{random() % 100 < slow_percent ? slow : fast}; };
        shortest = duration::max();
        longest = {};
        for (std::size_t call = 0; call < calls; ++call) {
            service.script = {takes(), takes()};
            service.started = 0;
            service.ask(attempts(2), hedging);
            shortest = std::min(shortest, hedging.current_delay());
            longest = std::max(longest, hedging.current_delay());
        }
    }
};

// Canceled attempts used to count with the time that they had run, which the delay itself decides:
// it rose with every call, from 53 ms after 20 calls to 180 ms after 5,000.
TEST(hedge, a_percentile_settles_and_follows_changes_of_the_service) {
    uneven_service s;
    s.run(200, 10, 2s, 3ms);
    s.run(9'800, 10, 2s, 3ms);
    EXPECT_EQ(s.shortest, 1s) << "more than 5 % are slow: the maximum";
    EXPECT_EQ(s.longest, 1s);
    s.run(2'000, 1, 2s, 3ms);
    s.run(2'000, 1, 2s, 3ms);
    EXPECT_GE(s.shortest, 3ms);
    EXPECT_LE(s.longest, 3400us);
    s.run(2'000, 0, 2s, 20ms);
    s.run(100, 0, 2s, 20ms);
    EXPECT_GE(s.shortest, 20ms);
    EXPECT_LE(s.longest, 22500us);
    s.run(2'000, 10, 2s, 3ms);
    s.run(100, 10, 2s, 3ms);
    EXPECT_EQ(s.shortest, 1s);
}

TEST(hedge, a_percentile_below_the_share_of_slow_attempts_is_that_of_the_fast_ones) {
    uneven_service s;
    s.hedging.percentile = 0.8;
    s.run(200, 10, 2s, 3ms);
    s.run(9'800, 10, 2s, 3ms);
    EXPECT_GE(s.shortest, 3ms);
    EXPECT_LE(s.longest, 3400us);
}

TEST(hedge, an_attempt_that_reached_its_limit_counts_as_slow_and_one_that_failed_does_not_count) {
    const auto seen = std::make_shared<first_attempt_latencies>();
    const hedge_options hedging{.delay = 1s, .seen = seen};
    replica limited({{10s}, {5ms}});
    limited.options.attempt_timeout = 20ms;
    limited.ask(attempts(2).every(0s), hedging);
    EXPECT_EQ(seen->count(), 2U) << "the first attempts of both";
    EXPECT_EQ(seen->percentile(1.0), std::nullopt);
    EXPECT_LT(seen->percentile(0.5), 6ms);
    replica failing({{1ms, refused}, {1ms, refused}});
    failing.ask(attempts(2).every(0s), hedging);
    EXPECT_EQ(seen->count(), 2U);
}

TEST(hedge, a_strategy_that_grants_no_retries_grants_no_hedges) {
    struct refusing final : driver::retry_strategy {
        void retry_after(const driver::retry_question&, driver::retry_sink& sink) override {
            sink.answer(driver::retry_action::after(0s));
        }
        driver::decision on_start(driver::token_state&, const driver::decision_context&) override {
            return {refusal_reason::budget_exhausted, -1};
        }
    } strategy;
    replica r({{200ms}, {1ms}});
    async_retry<void(error_code, int)>(
        r.io, strategy, r.options, hedged(50ms, r.initiate()), [&](error_code code, int number) {
            r.ec = code;
            r.value = number;
        });
    r.time.run(r.io);
    EXPECT_EQ(r.value, 1);
    EXPECT_EQ(r.started, 1U);
    EXPECT_EQ(r.trace.entries.back().refusal(), refusal_reason::no_initial_token);
}

TEST(hedge, stands_inside_or_outside_of_a_predicate_and_a_fallback) {
    const auto is_error = [](const error_code& code) { return code.value() != 0; };
    const auto run = [](replica& r, auto operation) {
        async_retry<void(error_code, int)>(
            r.io, attempts(2), r.options, std::move(operation), [&](error_code code, int number) {
                r.ec = code;
                r.value = number;
            });
        r.time.run(r.io);
    };
    replica inside({{10s}, {20ms}});
    run(inside, fails_if(is_error, hedged(50ms, inside.initiate())));
    EXPECT_EQ(inside.value, 2);
    replica outside({{10s}, {20ms}});
    run(outside, hedged(50ms, fails_if(is_error, outside.initiate())));
    EXPECT_EQ(outside.value, 2);
    replica failing({{60ms, refused}, {60ms, refused}});
    run(failing, with_fallback(42, fails_if(is_error, hedged(50ms, failing.initiate()))));
    EXPECT_EQ(failing.ec, error_code());
    EXPECT_EQ(failing.value, 42);
    EXPECT_EQ(failing.started, 2U);
}

/// Writes each span when it ends.
struct written_tracer final : retry_tracer {
    std::string text;

    struct span final : retry_tracer::span {
        span(std::string& to, std::string_view name) : out(to), line(name) {}
        void set_attribute(std::string_view name, std::int64_t value) noexcept override {
            line += " " + std::string(name) + "=" + std::to_string(value);
        }
        void set_attribute(std::string_view name, std::string_view value) noexcept override {
            line += " " + std::string(name) + "=" + std::string(value);
        }
        void end(bool is_error) noexcept override { out += line + (is_error ? " error\n" : "\n"); }
        std::string& out;
        std::string line;
    };
    std::unique_ptr<retry_tracer::span> start_span(
        std::string_view name, retry_tracer::span* /*parent*/) noexcept override {
        return std::make_unique<span>(text, name);
    }
};

TEST(hedge, every_attempt_has_a_span_and_a_canceled_one_is_no_error) {
    const auto shared = std::make_shared<written_tracer>();
    written_tracer& tracer = *shared;
    replica r({{10s}, {20ms}});
    r.ask(attempts(3).tracer(shared));
    EXPECT_EQ(
        tracer.text,
        "attempt reprise.retry.attempt=2 reprise.retry.hedge=1\n"
        "attempt reprise.retry.attempt=1 reprise.retry.canceled=1\n"
        "retry reprise.retry.attempts=2\n");
    tracer.text.clear();
    replica failing({{60ms, refused}, {60ms, refused}});
    failing.ask(attempts(2).tracer(shared));
    const std::string type = "error.type=" + std::string(refused.category().name()) + ":" +
                             std::to_string(refused.value()) + " error\n";
    EXPECT_EQ(
        tracer.text, "attempt reprise.retry.attempt=1 " + type +
                         "attempt reprise.retry.attempt=2 reprise.retry.hedge=1 " + type +
                         "retry reprise.retry.attempts=2 "
                         "reprise.retry.refusal=attempts exhausted " +
                         type);
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
        const auto fetch = hedged(50ms, throws_on_failure([&] { return r.read_in_coroutine(); }));
        r.value = co_await async_retry(attempts(3), r.options, fetch);
    };
    r.thrown = testing::play(r.io, r.time, play);
    EXPECT_EQ(r.thrown, nullptr);
    EXPECT_EQ(r.value, 2);
    EXPECT_EQ(r.canceled, 1U);
    EXPECT_EQ(r.elapsed(), 70ms);
}

TEST(hedge, a_hedged_coroutine_under_a_limit_throws_its_last_failure) {
    replica r({{10s}, {10s}});
    r.options.attempt_timeout = 100ms;
    const auto play = [&]() -> asio::awaitable<void> {
        const auto fetch = hedged(50ms, throws_on_failure([&] { return r.read_in_coroutine(); }));
        r.value = co_await async_retry(attempts(2), r.options, fetch);
    };
    r.thrown = testing::play(r.io, r.time, play);
    EXPECT_NE(r.thrown, nullptr);
    EXPECT_EQ(r.elapsed(), 150ms);
    EXPECT_TRUE(r.trace.entries.back().is_timeout());
}

TEST(hedge, never_runs_more_attempts_than_its_maximum) {
    replica r({{10s}, {9s}, {1ms}});
    r.ask(attempts(5), {.delay = 50ms, .attempts_max = 2});
    EXPECT_EQ(r.started, 2U);
    EXPECT_EQ(r.value, 2);
    EXPECT_EQ(r.elapsed(), 9050ms);
}

TEST(hedge, the_last_failure_is_reported) {
    replica r({{60ms, refused}, {30ms, asio::error::host_unreachable}});
    r.ask(attempts(2));
    EXPECT_EQ(r.ec, asio::error::host_unreachable);
    EXPECT_EQ(r.elapsed(), 80ms);
}

}  // namespace reprise::hedge_test
