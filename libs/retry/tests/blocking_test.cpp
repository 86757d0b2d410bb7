#include <gtest/gtest.h>

#include <array>
#include <ctime>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <reprise/retry.hpp>
#include <reprise/testing/scripted.hpp>

namespace reprise {

namespace blocking_test {

using namespace std::chrono_literals;
using testing::scripted_operation;
using testing::scripted_random;
using testing::virtual_clock;

/// A strategy, a clock and randomness in the middle of each range, with options that use them.
struct fixture {
    virtual_clock clock;
    scripted_random random{scripted_random::half};
    retry_history trace;

    [[nodiscard]] call_options options() {
        return {.history = &trace, .clock = &clock, .random = &random};
    }
    [[nodiscard]] std::vector<duration> planned_waits() const {
        std::vector<duration> waits;
        for (std::size_t i = 0; i < trace.entries.size(); ++i) {
            if (trace.entries[i].refusal() == refusal_reason::none) {
                waits.push_back(trace.entries[i].delay());
            }
        }
        return waits;
    }
};

/// Grants no initial token.
struct refusing_strategy {
    driver::decision on_start(driver::token_state&, const driver::decision_context&) noexcept {
        return {refusal_reason::no_initial_token, -1};
    }
    driver::retry_action retry_after(driver::token_state&, const driver::retry_question&) noexcept {
        ++refreshes;
        return driver::retry_action::after({});
    }
    void on_success(const driver::token_state&, const driver::decision_context&) noexcept {
        ++successes;
    }
    int refreshes = 0;
    int successes = 0;
};

/// Allows every retry at once and counts them. Has no attempt limit.
struct endless_strategy {
    driver::decision on_start(
        driver::token_state& token, const driver::decision_context&) noexcept {
        token = {};
        token.delay = initial_delay;
        return {};
    }
    driver::retry_action retry_after(driver::token_state&, const driver::retry_question&) noexcept {
        return driver::retry_action::after({});
    }
    void on_success(const driver::token_state&, const driver::decision_context&) noexcept {
        ++successes;
    }
    duration initial_delay{};
    int successes = 0;
};

struct throwing_strategy {
    driver::decision on_start(driver::token_state& token, const driver::decision_context&) {
        if (throw_at == 0) {
            throw std::runtime_error("begin");
        }
        token = {};
        return {};
    }
    driver::retry_action retry_after(driver::token_state&, const driver::retry_question&) {
        throw std::runtime_error("retry_after");
    }
    void on_success(const driver::token_state&, const driver::decision_context&) {
        throw std::runtime_error("succeed");
    }
    int throw_at = 0;
};

struct typed_error : std::runtime_error {
    using std::runtime_error::runtime_error;
};
failure_facts retry_facts(const typed_error&) {
    return testing::transient();
}

}  // namespace blocking_test

using namespace blocking_test;  // NOLINT: one name per test file keeps unity builds apart

TEST(blocking, a_retry_without_a_delay_does_not_touch_the_clock) {
    testing::virtual_clock clock;
    auto operation = testing::scripted_operation{testing::transient()}.fail_forever();
    static_cast<void>(retry(attempts(3).every(0ms), {.clock = &clock}, operation));
    EXPECT_EQ(operation.calls(), 3U);
    EXPECT_TRUE(clock.waits().empty());
}

#if defined(CLOCK_THREAD_CPUTIME_ID)
TEST(blocking, a_wait_on_the_real_clock_does_not_spin) {
    const auto used = [] {
        timespec time{};
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
        return std::chrono::seconds{time.tv_sec} + std::chrono::nanoseconds{time.tv_nsec};
    };
    const auto before = used();
    auto operation = testing::scripted_operation{testing::transient()};
    EXPECT_TRUE(retry(attempts(2).every(100ms), {}, operation).has_value());
    EXPECT_LT(used() - before, 50ms);
}
#endif

TEST(blocking, returns_the_operations_own_result_type) {
    standard_strategy strategy;
    EXPECT_EQ(retry(strategy, [] { return std::string("done"); }), "done");
    const auto pointer = retry(strategy, [] { return std::make_unique<int>(4); });
    EXPECT_EQ(*pointer, 4);
    int calls = 0;
    retry(strategy, [&] { ++calls; });
    EXPECT_EQ(calls, 1);
}

TEST(blocking, SM_13_SM_16_waits_the_scripted_delays_and_makes_five_attempts) {
    fixture f;
    standard_strategy strategy;
    auto operation = scripted_operation{testing::transient()}.fail_forever();
    const auto result = retry(strategy, f.options(), operation);
    EXPECT_FALSE(result.has_value());
    EXPECT_EQ(operation.calls(), 5U);
    EXPECT_EQ(f.clock.waits(), (std::vector<duration>{500ms, 1s, 2s, 4s}));
    EXPECT_EQ(f.trace.refusal(), refusal_reason::attempts_exhausted);
    EXPECT_EQ(result.error().step, 4U) << "the caller gets the last error";
}

TEST(blocking, SM_01_waits_for_the_delay_of_the_initial_token) {
    fixture f;
    endless_strategy strategy{.initial_delay = 3s};
    scripted_operation operation{};
    EXPECT_TRUE(retry(strategy, f.options(), operation).has_value());
    EXPECT_EQ(f.clock.waits(), (std::vector<duration>{3s}));
}

TEST(blocking, SM_04_without_an_initial_token_exactly_one_attempt_is_made) {
    fixture f;
    refusing_strategy strategy;
    scripted_operation failing{testing::transient()};
    const auto result = retry(strategy, f.options(), failing);
    EXPECT_FALSE(result.has_value());
    EXPECT_EQ(failing.calls(), 1U);
    EXPECT_EQ(strategy.refreshes, 0);
    EXPECT_EQ(f.trace.refusal(), refusal_reason::no_initial_token);
    scripted_operation working{};
    EXPECT_TRUE(retry(strategy, f.options(), working).has_value());
    EXPECT_EQ(strategy.successes, 0) << "there is no token to return";
}

TEST(blocking, SM_05_a_refusal_never_replaces_the_operations_own_error) {
    fixture f;
    standard_strategy::options empty;
    empty.bucket.initial = 4.0;
    struct log final : retry_observer {
        void on_decision(const decision_event& event) noexcept override { last = event.entry; }
        retry_history::entry last{};
    };
    const auto seen = std::make_shared<log>();
    empty.observer = seen;
    standard_strategy strategy(empty);
    scripted_operation operation{testing::timed_out()};
    const auto result = retry(strategy, f.options(), operation);
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().facts, testing::timed_out());
    EXPECT_EQ(f.trace.refusal(), refusal_reason::budget_exhausted);
    EXPECT_EQ(f.trace.entries.back().budget_level(), detail::milli_units(4));
    EXPECT_EQ(seen->last.refusal(), refusal_reason::budget_exhausted) << "the refusal is logged";
}

TEST(blocking, SM_07_success_returns_the_token_exactly_once) {
    fixture f;
    endless_strategy strategy;
    scripted_operation operation{testing::transient(), testing::transient()};
    EXPECT_TRUE(retry(strategy, f.options(), operation).has_value());
    EXPECT_EQ(strategy.successes, 1);
    auto failing = scripted_operation{testing::permanent()};
    standard_strategy standard;
    EXPECT_FALSE(retry(standard, f.options(), failing).has_value());
    EXPECT_EQ(standard.budget().bucket()->milli_level(), detail::milli_units(500));
}

TEST(blocking, SM_09_a_hint_past_the_deadline_means_no_retry_and_costs_nothing) {
    fixture f;
    standard_strategy strategy;
    scripted_operation operation{testing::throttled(60s)};
    call_options options = f.options();
    options.timeout = 10s;
    EXPECT_FALSE(retry(strategy, options, operation).has_value());
    EXPECT_EQ(operation.calls(), 1U);
    EXPECT_TRUE(f.clock.waits().empty()) << "refused at once, not after waiting";
    EXPECT_EQ(f.trace.refusal(), refusal_reason::deadline);
    EXPECT_EQ(strategy.budget().bucket()->milli_level(), detail::milli_units(500));
}

TEST(blocking, SM_09_a_hint_is_waited_for_above_the_cap) {
    fixture f;
    standard_strategy strategy;
    scripted_operation operation{testing::throttled(45s)};
    EXPECT_TRUE(retry(strategy, f.options(), operation).has_value());
    EXPECT_EQ(f.clock.waits(), (std::vector<duration>{45s}));
}

TEST(blocking, SM_10_a_not_repeatable_call_is_retried_only_when_it_is_safe_for_certain) {
    fixture f;
    standard_strategy strategy;
    call_options options = f.options();
    options.repeat = repeatability::not_repeatable;
    scripted_operation unsure{testing::timed_out()};
    EXPECT_FALSE(retry(strategy, options, unsure).has_value());
    EXPECT_EQ(f.trace.refusal(), refusal_reason::not_repeatable);
    scripted_operation sure{testing::transient()};
    EXPECT_TRUE(retry(strategy, options, sure).has_value());
}

TEST(blocking, SM_19_a_retry_that_cannot_start_before_the_deadline_is_refused_uncharged) {
    fixture f;
    standard_strategy strategy;
    auto operation = scripted_operation{testing::transient()}.fail_forever();
    call_options options = f.options();
    options.deadline = time_point{} + 1500ms;  // after 500 ms the next wait is 1 s: too late
    EXPECT_FALSE(retry(strategy, options, operation).has_value());
    EXPECT_EQ(operation.calls(), 2U);
    EXPECT_EQ(f.clock.elapsed(), 500ms);
    EXPECT_EQ(f.trace.refusal(), refusal_reason::deadline);
    EXPECT_EQ(strategy.budget().bucket()->milli_level(), detail::milli_units(495))
        << "one retry was charged";
}

TEST(blocking, SM_19_the_loop_enforces_deadlines_that_a_strategy_ignores) {
    struct slow_strategy : endless_strategy {
        driver::retry_action retry_after(
            driver::token_state&, const driver::retry_question&) noexcept {
            return driver::retry_action::after(1s);
        }
    } strategy;
    fixture f;
    auto operation = scripted_operation{testing::transient()}.fail_forever();
    call_options options = f.options();
    options.timeout = 3500ms;
    EXPECT_FALSE(retry(strategy, options, operation).has_value());
    EXPECT_EQ(operation.calls(), 4U);
    EXPECT_EQ(f.trace.refusal(), refusal_reason::deadline);
}

TEST(blocking, SM_19_each_attempt_gets_its_remaining_time) {
    fixture f;
    standard_strategy strategy;
    auto operation =
        scripted_operation{testing::transient(), testing::transient()}.taking(1s, f.clock);
    call_options options = f.options();
    options.timeout = 10s;
    options.attempt_timeout = 7s;
    EXPECT_TRUE(retry(strategy, options, operation).has_value());
    ASSERT_EQ(operation.calls(), 3U);
    EXPECT_EQ(operation.attempts()[0].timeout, 7s);
    EXPECT_EQ(operation.attempts()[1].timeout, 7s);      // at 1.5 s
    EXPECT_EQ(operation.attempts()[2].timeout, 6500ms);  // at 3.5 s the call's deadline is nearer
    EXPECT_EQ(operation.attempts()[2].number, 3U);
    EXPECT_EQ(operation.attempts()[2].deadline, time_point{} + 10s);
}

TEST(blocking, SM_19_stopping_ends_a_wait_at_once_with_the_last_error) {
    fixture f;
    standard_strategy strategy;
    std::stop_source stop;
    f.clock.after(100ms, [&] { stop.request_stop(); });
    auto operation = scripted_operation{testing::transient()}.fail_forever();
    call_options options = f.options();
    options.stop = stop.get_token();
    const auto result = retry(strategy, options, operation);
    EXPECT_FALSE(result.has_value());
    EXPECT_EQ(operation.calls(), 1U);
    EXPECT_EQ(f.clock.elapsed(), 100ms);
    EXPECT_EQ(f.trace.refusal(), refusal_reason::canceled);
    EXPECT_EQ(f.trace.failed_attempts(), 1U);
    EXPECT_NE(
        to_string(f.trace).find("+100 ms  attempt 2 not made; not retried: canceled"),
        std::string::npos)
        << f.trace;
}

// Once, a retry whose wait was canceled stayed paid for, and callers that gave up early drained the
// bucket of all others.
TEST(blocking, a_retry_whose_wait_is_canceled_costs_nothing) {
    fixture f;
    const auto bucket = std::make_shared<token_bucket>(token_bucket::options{.capacity = 10.0});
    std::stop_source stop;
    f.clock.after(100ms, [&] { stop.request_stop(); });
    call_options options = f.options();
    options.stop = stop.get_token();
    driver::retry_allowance outer(3);
    options.outer_allowance = &outer;
    scripted_operation operation{testing::transient()};
    EXPECT_FALSE(
        retry(attempts(3).every(1s).budget(bucket), options, std::ref(operation)).has_value());
    EXPECT_EQ(f.trace.refusal(), refusal_reason::canceled);
    EXPECT_DOUBLE_EQ(bucket->available(), 10.0);
    EXPECT_EQ(outer.left(), 3U) << "the enclosing loop has its retry back, too";
}

// The same for a breaker that opens during the wait, because of other calls.
TEST(blocking, a_retry_that_the_breaker_refuses_after_its_wait_costs_nothing) {
    fixture f;
    const auto bucket = std::make_shared<token_bucket>(token_bucket::options{.capacity = 10.0});
    const auto breaker = std::make_shared<circuit_breaker>(
        driver::circuit_breaker_options{.volume_threshold = 2, .sleep_window = 10s});
    f.clock.after(100ms, [&] {
        for (int i = 0; i < 2; ++i) {
            breaker->on_failure(driver::breaker_permit::regular(), {}, f.clock.now());
        }
    });
    scripted_operation operation{testing::transient()};
    const auto strategy = attempts(3).every(1s).budget(bucket).breaker(breaker);
    EXPECT_FALSE(retry(strategy, f.options(), std::ref(operation)).has_value());
    EXPECT_EQ(f.trace.refusal(), refusal_reason::circuit_open);
    EXPECT_EQ(operation.calls(), 1U);
    EXPECT_DOUBLE_EQ(bucket->available(), 10.0);
}

TEST(blocking, SM_19_stopping_during_an_attempt_keeps_its_outcome_and_retries_no_more) {
    fixture f;
    standard_strategy strategy;
    std::stop_source stop;
    call_options options = f.options();
    options.stop = stop.get_token();
    int calls = 0;
    const auto failing = [&]() -> testing::scripted_result {
        ++calls;
        stop.request_stop();
        return testing::scripted_error{0, testing::transient()};
    };
    EXPECT_FALSE(retry(strategy, options, failing).has_value());
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(strategy.budget().bucket()->milli_level(), detail::milli_units(500))
        << "nothing was charged";
    EXPECT_EQ(retry(strategy, options, [] { return 7U; }), 7U) << "a success stays a success";
}

TEST(blocking, SM_19_stopping_before_the_first_attempt_is_a_named_exception) {
    fixture f;
    endless_strategy strategy{.initial_delay = 3s};
    std::stop_source stop;
    f.clock.after(1s, [&] { stop.request_stop(); });
    call_options options = f.options();
    options.stop = stop.get_token();
    int calls = 0;
    EXPECT_THROW(retry(strategy, options, [&] { ++calls; }), retry_error);
    EXPECT_EQ(calls, 0);
    EXPECT_EQ(f.trace.refusal(), refusal_reason::canceled);
    EXPECT_EQ(to_string(f.trace), "+1000 ms  attempt 1 not made; not retried: canceled\n");
}

TEST(blocking, the_first_attempt_is_made_even_when_the_deadline_has_passed) {
    fixture f;
    f.clock.advance(10s);
    endless_strategy strategy{.initial_delay = 3s};
    call_options options = f.options();
    options.deadline = time_point{} + 5s;
    EXPECT_EQ(retry(strategy, options, [] { return 1U; }), 1U);
    EXPECT_EQ(f.clock.elapsed(), 10s) << "an initial delay is cut to the deadline";
    options.timeout = -5s;
    EXPECT_EQ(retry(strategy, options, [] { return 2U; }), 2U) << "a negative timeout is zero";
}

TEST(blocking, SM_20_the_loop_has_no_attempt_limit_of_its_own) {
    fixture f;
    endless_strategy strategy;
    std::size_t calls = 0;
    const auto result = retry(strategy, f.options(), [&]() -> testing::scripted_result {
        if (++calls == 100'000) {
            return 1;
        }
        return testing::scripted_error{calls, testing::transient()};
    });
    EXPECT_TRUE(result.has_value());
    EXPECT_EQ(calls, 100'000U);
    EXPECT_EQ(f.trace.failed_attempts(), 99'999U);
    EXPECT_EQ(f.trace.entries.size(), 32U);
}

TEST(blocking, SM_05_thrown_exceptions_are_retried_by_their_facts_and_reach_the_caller_unchanged) {
    fixture f;
    standard_strategy strategy;
    unsigned calls = 0;
    const auto throws_twice = [&] {
        if (++calls < 3) {
            throw typed_error("busy");
        }
        return calls;
    };
    EXPECT_EQ(retry(strategy, f.options(), catching<typed_error>, throws_twice), 3U);
    calls = 0;
    EXPECT_THROW(static_cast<void>(retry(strategy, f.options(), throws_twice)), typed_error)
        << "not listed: no facts, no retry";
    EXPECT_EQ(calls, 1U);
    EXPECT_EQ(f.trace.refusal(), refusal_reason::unclassified);
    EXPECT_THROW(retry(strategy, f.options(), [] { throw 42; }), int);
}

TEST(blocking, an_attempt_may_fail_by_value_and_the_next_by_exception) {
    fixture f;
    standard_strategy strategy;
    int calls = 0;
    const auto mixed = [&]() -> testing::scripted_result {
        switch (++calls) {
            case 1:
                return testing::scripted_error{0, testing::transient()};
            case 2:
                throw typed_error("busy");
            default:
                return 9;
        }
    };
    const auto result = retry(strategy, f.options(), catching<typed_error>, mixed);
    EXPECT_EQ(result.value(), 9);
}

// The order was placed, its receipt threw while it was moved, and the order was placed again.
TEST(blocking, SM_10_a_result_that_throws_while_it_is_moved_repeats_nothing) {
    struct receipt {
        receipt() = default;
        receipt(receipt&&) { throw typed_error("moved"); }
    };
    fixture f;
    int calls = 0;
    const auto place_order = [&] {
        ++calls;
        return receipt();
    };
    const auto strategy = attempts(3).on<typed_error>();
    EXPECT_THROW(static_cast<void>(retry(strategy, f.options(), place_order)), typed_error);
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(f.trace.refusal(), refusal_reason::unsafe);
}

// Histories had "success" for a failure without a code, and nothing for a fourth category.
TEST(blocking, a_failure_whose_code_has_no_text_in_the_history_keeps_its_own) {
    struct numbered : std::error_category {
        [[nodiscard]] const char* name() const noexcept override { return "numbered"; }
        [[nodiscard]] std::string message(int) const override { return "out of order"; }
    };
    static const std::array<numbered, 4> categories{};
    fixture f;
    std::size_t calls = 0;
    const auto fail = [&]() -> unsigned {
        throw calls == 4 ? std::system_error(std::error_code(), "no answer")
                         : std::system_error(7, categories[calls++], "shelf");
    };
    EXPECT_THROW(static_cast<void>(retry(attempts(5), f.options(), fail)), std::system_error);
    const std::string text = to_string(f.trace);
    EXPECT_NE(text.find("attempt 4 failed, shelf: out of order (7)"), std::string::npos) << text;
    EXPECT_NE(text.find("attempt 5 failed, no answer"), std::string::npos) << text;
}

TEST(blocking, a_strategy_that_throws_is_a_refusal) {
    fixture f;
    scripted_operation operation{testing::transient()};
    throwing_strategy at_begin{.throw_at = 0};
    EXPECT_FALSE(retry(at_begin, f.options(), operation).has_value());
    EXPECT_EQ(operation.calls(), 1U);
    EXPECT_EQ(f.trace.refusal(), refusal_reason::no_initial_token);
    scripted_operation again{testing::transient()};
    throwing_strategy at_refresh{.throw_at = 1};
    EXPECT_FALSE(retry(at_refresh, f.options(), again).has_value());
    EXPECT_EQ(f.trace.refusal(), refusal_reason::strategy_failed);
    EXPECT_EQ(retry(at_refresh, [] { return 5U; }), 5U) << "a throwing succeed changes nothing";
}

TEST(blocking, extreme_durations_from_a_strategy_are_defined) {
    struct extreme_strategy : endless_strategy {
        driver::retry_action retry_after(
            driver::token_state& token, const driver::retry_question&) noexcept {
            return driver::retry_action::after(
                token.attempt == 1 ? duration::min() : duration::max());
        }
    } strategy;
    fixture f;
    auto operation = scripted_operation{testing::transient()}.fail_forever();
    call_options options = f.options();
    options.timeout = 1h;
    EXPECT_FALSE(retry(strategy, options, operation).has_value());
    EXPECT_EQ(operation.calls(), 2U)
        << "a negative delay is zero, an endless one hits the deadline";
}

TEST(blocking, an_immediate_success_reads_no_clock_and_uses_no_randomness) {
    fixture f;
    standard_strategy strategy;
    call_options options = f.options();
    options.history = nullptr;
    EXPECT_EQ(retry(strategy, options, [] { return 1U; }), 1U);
    EXPECT_EQ(f.clock.reads(), 0U);
    EXPECT_EQ(retry(strategy, f.options(), [] { return 1U; }), 1U);
    EXPECT_EQ(f.clock.reads(), 1U) << "offsets in a history count from the start";
    EXPECT_EQ(f.random.number_count(), 0U);
}

TEST(blocking, the_real_clock_wakes_at_once_when_stopped_from_another_thread) {
    endless_strategy strategy{.initial_delay = std::chrono::hours{24}};
    std::stop_source stop;
    call_options options;
    options.stop = stop.get_token();
    std::thread stopper([&] { stop.request_stop(); });
    EXPECT_THROW(retry(strategy, options, [] {}), retry_error);
    stopper.join();
}

TEST(blocking, a_wait_on_the_real_clock_that_could_be_stopped_is_not_cut_short) {
    const std::stop_source stop;
    const time_point begun = retry_clock::real().now();
    auto operation = testing::scripted_operation{testing::transient()};
    const auto rule = attempts(2).every(20ms).with_jitter(jitter::none);
    EXPECT_TRUE(retry(rule, {.stop = stop.get_token()}, operation).has_value());
    EXPECT_GE(retry_clock::real().now() - begun, 20ms);
}

TEST(blocking, one_attempt_is_no_retry) {
    fixture f;
    auto operation = scripted_operation{testing::transient()}.fail_forever();
    EXPECT_FALSE(retry(attempts(1), f.options(), operation).has_value());
    EXPECT_EQ(operation.calls(), 1U);
    EXPECT_EQ(f.trace.refusal(), refusal_reason::attempts_exhausted);
}

TEST(blocking, an_attempt_can_read_the_time_and_the_date_of_its_calls_clock) {
    fixture f;
    f.clock.advance(90s);
    const auto start = std::chrono::sys_days{std::chrono::year{2000} / 1 / 1};
    standard_strategy strategy;
    retry(strategy, f.options(), [&](const attempt& a) {
        EXPECT_EQ(a.now(), time_point{} + 90s);
        EXPECT_EQ(a.calendar_time(), start + 90s);
    });
    EXPECT_GT(attempt{}.calendar_time(), start + 24h * 365 * 20) << "outside of a loop: real time";
    EXPECT_EQ(testing::virtual_clock(time_point{} - 1ns).calendar_time(), start - 1s);
}

TEST(blocking, SM_19_the_earlier_of_deadline_and_timeout_counts) {
    for (const bool is_deadline_earlier : {true, false}) {
        fixture f;
        standard_strategy strategy;
        auto operation = scripted_operation{testing::transient()}.fail_forever();
        call_options options = f.options();
        options.deadline = time_point{} + (is_deadline_earlier ? 1500ms : 10s);
        options.timeout = is_deadline_earlier ? 10s : 1500ms;
        EXPECT_FALSE(retry(strategy, options, operation).has_value());
        EXPECT_EQ(operation.calls(), 2U);
        EXPECT_EQ(f.clock.elapsed(), 500ms);
        EXPECT_EQ(f.trace.refusal(), refusal_reason::deadline);
    }
}

// libcurl sent a POST twice within one attempt, because the adapter did not see the call's mark.
TEST(blocking, SM_10_an_attempt_has_the_mark_of_its_call) {
    for (const repeatability mark : {repeatability::unspecified, repeatability::not_repeatable}) {
        auto seen = throws_on_failure([](const attempt& current) { return current.repeat; });
        EXPECT_EQ(retry(attempts(1), {.repeat = mark}, seen), mark);
    }
}

}  // namespace reprise
