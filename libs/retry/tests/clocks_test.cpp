#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include <reprise/retry.hpp>
#include <reprise/retry/budget.hpp>
#include <reprise/retry/driver/metrics_text.hpp>
#include <reprise/testing/scripted.hpp>
#include <reprise/testing/virtual_clock.hpp>

// Budgets, breakers and histograms behave the same whatever the clock shows when a process starts,
// and however far it jumps forward. The starts lie at 0, before and after each wrap of each field
// that holds time in fewer bits than the clock has, and before the clock's zero.
namespace reprise::clocks_test {

using namespace std::chrono_literals;

constexpr duration year = std::chrono::hours{24 * 365};
/// The windowed budget keeps 32 bits of milliseconds; histories keep 40 bits of microseconds.
constexpr duration half_wrap_of_milliseconds = std::chrono::milliseconds{1LL << 31};
constexpr duration wrap_of_milliseconds = std::chrono::milliseconds{1LL << 32};
constexpr duration wrap_of_microseconds = std::chrono::microseconds{1LL << 40};

[[nodiscard]] std::vector<time_point> starts() {
    std::vector<time_point> all{time_point{}, time_point{year}, time_point{100 * year}};
    for (const duration wrap :
         {half_wrap_of_milliseconds, wrap_of_milliseconds, wrap_of_microseconds}) {
        for (const std::int64_t times : {-3, -2, -1, 1, 2, 3}) {
            for (const duration distance :
                 std::initializer_list<duration>{-1h, -1s, -1ms, 0ms, 1ms, 1s, 1h}) {
                all.emplace_back(times * wrap + distance);
            }
        }
    }
    for (const duration before_zero : {duration{-1}, duration{-1ms}, duration{-1s}, -year}) {
        all.emplace_back(before_zero);
    }
    return all;
}

[[nodiscard]] std::vector<duration> jumps() {
    return {
        1h,
        24h,
        half_wrap_of_milliseconds,
        wrap_of_milliseconds - 1s,
        wrap_of_milliseconds,
        wrap_of_milliseconds + 1ms,
        8 * wrap_of_milliseconds,
        year,
        90 * year};
}

[[nodiscard]] std::string text(time_point at) {
    return std::to_string(at.time_since_epoch() / 1ms) + " ms";
}

// Once, the time since the process started was compared with 32 bits of zero: with an uptime of 25
// to 49 days the credit of busy hours stayed for weeks, 720,100 retries instead of 100.
TEST(clocks, a_windowed_budget_forgets_credit_at_any_uptime_and_after_any_jump) {
    for (const time_point start : starts()) {
        for (const duration jump : jumps()) {
            windowed_budget budget;
            EXPECT_EQ(budget.milli_level(start), detail::milli_units(100)) << text(start);
            for (int request = 0; request < 5000; ++request) {
                budget.on_request(start + request * 1ms);
            }
            const time_point busy = start + 5s;
            ASSERT_GT(budget.milli_level(busy), detail::milli_units(800)) << text(start);
            EXPECT_EQ(budget.milli_level(busy + jump) / 1000, 100)
                << text(start) << " + " << text(time_point{jump});
            budget.on_request(busy + jump);
            EXPECT_LE(budget.milli_level(busy + jump), detail::milli_units(100.3));
        }
    }
}

TEST(clocks, sums_of_times_stay_in_range) {
    constexpr duration one{1};
    EXPECT_EQ(driver::add_saturated(time_point::max(), one), time_point::max());
    EXPECT_EQ(driver::add_saturated(time_point::max() - one, one), time_point::max());
    EXPECT_EQ(driver::add_saturated(time_point::max(), duration::max()), time_point::max());
    EXPECT_EQ(driver::add_saturated(time_point::min(), -one), time_point::min());
    EXPECT_EQ(driver::add_saturated(time_point::min() + one, -one), time_point::min());
    EXPECT_EQ(driver::add_saturated(time_point::min(), duration::min()), time_point::min());
    EXPECT_EQ(driver::add_saturated(time_point{5s}, -2s), time_point{3s});
}

TEST(clocks, a_windowed_budget_refills_its_reserve_at_any_uptime) {
    for (const time_point start : starts()) {
        windowed_budget budget({.percent = 0, .minimum_per_second = 10});
        while (budget.try_pay({}, start).paid) {
        }
        EXPECT_EQ(budget.milli_level(start), 0) << text(start);
        EXPECT_EQ(budget.milli_level(start + 1s), detail::milli_units(10)) << text(start);
        EXPECT_EQ(budget.milli_level(start + 1h), detail::milli_units(100)) << text(start);
        EXPECT_EQ(budget.milli_level(start + year), detail::milli_units(100)) << text(start);
        EXPECT_FALSE(budget.try_pay({}, start - 1s).paid) << "an older reading earns nothing";
    }
}

TEST(clocks, budgets_without_time_do_the_same_at_any_uptime) {
    for (const time_point start : starts()) {
        driver::token_bucket_budget bucket(std::make_shared<token_bucket>());
        failure_throttle throttle;
        EXPECT_EQ(bucket.try_pay({}, start).level, detail::milli_units(495));
        bucket.on_success(0, 1, start + year);
        EXPECT_EQ(bucket.bucket()->milli_level(), detail::milli_units(496));
        throttle.on_failure({}, start);
        EXPECT_TRUE(throttle.try_pay({}, start + year).paid);
    }
}

TEST(clocks, a_circuit_breaker_opens_sleeps_and_closes_at_any_uptime) {
    for (const time_point start : starts()) {
        circuit_breaker breaker({.volume_threshold = 4});
        for (int outcome = 0; outcome < 4; ++outcome) {
            EXPECT_EQ(
                breaker.try_acquire(start + outcome * 1ms), driver::breaker_permit::regular());
            breaker.on_failure(driver::breaker_permit::regular(), {}, start + outcome * 1ms);
        }
        ASSERT_EQ(breaker.state(), circuit_state::open) << text(start);
        EXPECT_TRUE(breaker.try_acquire(start + 5s).is_refused());
        EXPECT_TRUE(breaker.would_allow(start + 5003ms));
        const driver::breaker_permit probe = breaker.try_acquire(start + 5003ms);
        EXPECT_TRUE(probe.is_probe());
        breaker.on_success(probe, start + 6s);
        EXPECT_EQ(breaker.state(), circuit_state::closed);
    }
}

TEST(clocks, a_circuit_breaker_forgets_its_window_after_any_jump) {
    for (const time_point start : starts()) {
        for (const duration jump : jumps()) {
            circuit_breaker breaker({.volume_threshold = 4});
            for (int outcome = 0; outcome < 3; ++outcome) {
                breaker.on_failure(driver::breaker_permit::regular(), {}, start);
            }
            breaker.on_failure(driver::breaker_permit::regular(), {}, start + jump);
            EXPECT_EQ(breaker.state(), circuit_state::closed) << text(start);
            for (int outcome = 0; outcome < 3; ++outcome) {
                breaker.on_failure(driver::breaker_permit::regular(), {}, start + jump);
            }
            EXPECT_TRUE(breaker.try_acquire(start + jump + year).is_probe());
        }
    }
}

TEST(clocks, a_histogram_takes_any_duration) {
    driver::latency_histogram seen;
    for (const duration each : {duration::min(), -year, duration{-1}, duration{0}, duration{1ms}}) {
        seen.record(each);
    }
    EXPECT_EQ(seen.count(), 5U);
    EXPECT_LE(seen.percentile(0.8), 1us);
    for (int index = 0; index < 5000; ++index) {
        seen.record(index % 2 == 0 ? duration::max() : 290 * year);
    }
    EXPECT_EQ(seen.count(), 5005U);
    EXPECT_GT(seen.percentile(0.9), std::chrono::hours{24 * 10});
    EXPECT_GT(seen.sum(), year) << "the sum saturates, it does not wrap";
}

/// Compares the visible behaviour of a call: the delays, and the offsets of its history.
TEST(clocks, a_call_waits_and_records_the_same_at_any_uptime) {
    for (const time_point start : starts()) {
        testing::virtual_clock clock(start);
        retry_history trace;
        auto operation = testing::scripted_operation{testing::transient()}.fail_forever();
        operation.taking(1s, clock);
        const call_options options{.timeout = 10s, .history = &trace, .clock = &clock};
        EXPECT_FALSE(
            retry(unlimited_attempts().every(2s), options, std::ref(operation)).has_value());
        EXPECT_EQ(operation.calls(), 4U) << text(start);
        EXPECT_EQ(clock.waits(), (std::vector<duration>{2s, 2s, 2s})) << text(start);
        EXPECT_EQ(trace.entries.back().offset() - trace.entries[0].offset(), 9s) << text(start);
        EXPECT_EQ(trace.refusal(), refusal_reason::deadline);
    }
}

TEST(clocks, a_history_saturates_where_its_fields_end) {
    constexpr duration wrap_of_delays = std::chrono::microseconds{std::int64_t{1} << 37U};
    retry_history::entry entry;
    for (const duration each : {wrap_of_microseconds, year, duration::max()}) {
        entry.set_offset(each);
        entry.set_delay(each);
        EXPECT_EQ(entry.offset(), wrap_of_microseconds - 1us);
        EXPECT_EQ(entry.delay(), wrap_of_delays - 1us);
    }
    entry.set_offset(-year);
    EXPECT_EQ(entry.offset(), 0s);
    entry.set_offset(wrap_of_microseconds - 1us);
    EXPECT_EQ(entry.offset(), wrap_of_microseconds - 1us);
}

/// Wakes up late, as the clock of a busy machine.
class clock_that_wakes_late final : public retry_clock {
public:
    [[nodiscard]] time_point now() noexcept override { return now_; }
    bool wait_until(time_point until, const std::stop_token&) noexcept override {
        now_ = until + 50ms;
        return true;
    }

private:
    time_point now_{1h};
};

// Only the planned time of a retry was compared with the deadline, not when it really started.
TEST(late_clock, a_wait_that_takes_longer_than_planned_starts_no_attempt_after_the_deadline) {
    clock_that_wakes_late clock;
    retry_history history;
    int calls = 0;
    const auto call = [&](duration timeout) {
        calls = 0;
        const auto fail = [&] {
            return ++calls, std::make_error_code(std::errc::connection_refused);
        };
        return retry(
            attempts(2).every(10ms), {.timeout = timeout, .history = &history, .clock = &clock},
            fail);
    };
    EXPECT_EQ(call(30ms), std::errc::connection_refused);
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(history.refusal(), refusal_reason::deadline);
    EXPECT_EQ(call(100ms), std::errc::connection_refused);
    EXPECT_EQ(calls, 2);
}

TEST(attempt, time_left_shrinks_while_its_steps_take_time) {
    reprise::testing::virtual_clock clock;
    retry(attempts(1), {.attempt_timeout = 10s, .clock = &clock}, [&](const attempt& current) {
        EXPECT_EQ(current.time_left(), 10s);
        clock.advance(7s);
        EXPECT_EQ(current.time_left(), 3s);
        EXPECT_EQ(current.timeout, 10s);
        clock.advance(7s);
        EXPECT_EQ(current.time_left(), 0s);
    });
    EXPECT_EQ(attempt{}.time_left(), duration::max());
    EXPECT_EQ((attempt{.timeout = 1s}.time_left()), 1s) << "made by hand, without a deadline";
}

}  // namespace reprise::clocks_test
