#include <gtest/gtest.h>

#include <string>

#include <reprise/retry/circuit_breaker.hpp>

namespace reprise::circuit_breaker_fsm_test {

using namespace std::chrono_literals;

constexpr time_point window_begin{1h};
constexpr bool failed = true;
constexpr bool good = false;

void feed(driver::circuit_breaker_fsm& breaker, int count, bool has_failed, time_point now) {
    for (int index = 0; index < count; ++index) {
        breaker.on_outcome(has_failed, now);
    }
}

driver::circuit_breaker_fsm opened_at(time_point now) {
    driver::circuit_breaker_fsm breaker{driver::circuit_breaker_options{}};
    feed(breaker, 20, failed, now);
    return breaker;
}

TEST(circuit_breaker_fsm, RH_34_opens_at_half_of_twenty_requests_and_not_before) {
    driver::circuit_breaker_fsm breaker{driver::circuit_breaker_options{}};
    feed(breaker, 19, failed, window_begin);
    EXPECT_TRUE(breaker.allows());
    EXPECT_EQ(breaker.next_due(), std::nullopt);
    breaker.on_outcome(failed, window_begin + 1s);
    EXPECT_FALSE(breaker.allows());
    EXPECT_EQ(breaker.next_due(), window_begin + 6s);
    driver::circuit_breaker_fsm half{driver::circuit_breaker_options{}};
    feed(half, 11, good, window_begin);
    feed(half, 10, failed, window_begin);
    EXPECT_TRUE(half.allows());  // 10 of 21
    half.on_outcome(failed, window_begin);
    EXPECT_FALSE(half.allows());  // 11 of 22
}

TEST(circuit_breaker_fsm, RH_34_the_share_is_exact) {
    driver::circuit_breaker_fsm below{driver::circuit_breaker_options{}};
    feed(below, 101, good, window_begin);
    feed(below, 100, failed, window_begin);
    EXPECT_TRUE(below.allows());  // 100 of 201
    driver::circuit_breaker_fsm equal{driver::circuit_breaker_options{}};
    feed(equal, 100, good, window_begin);
    feed(equal, 99, failed, window_begin);
    EXPECT_TRUE(equal.allows());  // 99 of 199
    equal.on_outcome(failed, window_begin);
    EXPECT_FALSE(equal.allows());  // 100 of 200
}

TEST(circuit_breaker_fsm, RH_34_outcomes_older_than_the_window_do_not_count) {
    driver::circuit_breaker_fsm breaker{driver::circuit_breaker_options{}};
    feed(breaker, 19, failed, window_begin);
    breaker.on_outcome(failed, window_begin + 60s);
    EXPECT_TRUE(breaker.allows());
    feed(breaker, 18, failed, window_begin + 119s);
    EXPECT_TRUE(breaker.allows());
    breaker.on_outcome(failed, window_begin + 119s);
    EXPECT_FALSE(breaker.allows());
}

TEST(circuit_breaker_fsm, RH_34_the_window_rolls_and_is_never_reset) {
    // One request opens the count at 0 s; the failures come around the 60 s that follow it.
    driver::circuit_breaker_fsm breaker{driver::circuit_breaker_options{}};
    breaker.on_outcome(good, window_begin);
    feed(breaker, 15, failed, window_begin + 59s);
    EXPECT_TRUE(breaker.allows());
    feed(breaker, 4, failed, window_begin + 61s);
    EXPECT_TRUE(breaker.allows());  // 19
    breaker.on_outcome(failed, window_begin + 61s);
    EXPECT_FALSE(breaker.allows());
}

TEST(circuit_breaker_fsm, RH_34_old_successes_leave_the_window_one_step_at_a_time) {
    driver::circuit_breaker_fsm breaker{driver::circuit_breaker_options{}};
    for (int second = 0; second < 60; ++second) {
        feed(breaker, 1, good, window_begin + second * 1s);
    }
    // Then a failure each second: half of what the window holds after about 30 of them.
    int second = 60;
    while (breaker.allows() && second < 200) {
        breaker.on_outcome(failed, window_begin + second * 1s);
        ++second;
    }
    EXPECT_GE(second, 60 + 28);
    EXPECT_LE(second, 60 + 32);
}

TEST(circuit_breaker_fsm, RH_34_a_steady_share_below_the_threshold_never_opens_it) {
    driver::circuit_breaker_fsm breaker{driver::circuit_breaker_options{}};
    for (int round = 0; round < 10000; ++round) {
        const time_point now = window_begin + round * 37ms;
        breaker.on_outcome(round % 5 < 2 ? failed : good, now);
        ASSERT_TRUE(breaker.allows()) << round;
    }
}

TEST(circuit_breaker_fsm, RH_34_after_a_long_silence_nothing_counts_and_short_windows_work) {
    driver::circuit_breaker_fsm breaker{driver::circuit_breaker_options{}};
    feed(breaker, 19, failed, window_begin);
    feed(breaker, 1, failed, window_begin + 24h * 300);
    EXPECT_TRUE(breaker.allows());
    driver::circuit_breaker_options options;
    options.rolling_window = duration{1};  // a nanosecond: only what comes at the same time
    driver::circuit_breaker_fsm brief(options);
    feed(brief, 19, failed, window_begin);
    feed(brief, 1, failed, window_begin + duration{1});
    EXPECT_TRUE(brief.allows());
    feed(brief, 19, failed, window_begin + duration{1});
    EXPECT_FALSE(brief.allows());
}

TEST(circuit_breaker_fsm, RH_34_a_probe_decides_between_closed_and_another_sleep) {
    driver::circuit_breaker_fsm breaker = opened_at(window_begin);
    EXPECT_FALSE(breaker.on_due(window_begin + 4999ms));
    EXPECT_EQ(breaker.state(), circuit_state::open);
    EXPECT_TRUE(breaker.on_due(window_begin + 5s));
    EXPECT_EQ(breaker.state(), circuit_state::half_open);
    EXPECT_FALSE(breaker.allows());
    EXPECT_EQ(breaker.next_due(), window_begin + 10s);
    EXPECT_FALSE(breaker.on_due(window_begin + 10s));  // no answer
    EXPECT_EQ(breaker.state(), circuit_state::open);
    EXPECT_EQ(breaker.next_due(), window_begin + 15s);
    EXPECT_TRUE(breaker.on_due(window_begin + 15s));
    breaker.on_probe_lost(window_begin + 16s);
    EXPECT_EQ(breaker.next_due(), window_begin + 21s);
    EXPECT_TRUE(breaker.on_due(window_begin + 21s));
    EXPECT_TRUE(breaker.close());
    EXPECT_TRUE(breaker.allows());
    EXPECT_FALSE(breaker.close());
    feed(breaker, 19, failed, window_begin + 22s);
    EXPECT_TRUE(breaker.allows());  // nothing is left of what was counted before
}

TEST(circuit_breaker_fsm, RH_34_each_limit_can_be_configured) {
    driver::circuit_breaker_options options;
    options.volume_threshold = 4;
    options.error_threshold_percent = 75;
    options.rolling_window = 30s;
    options.sleep_window = 2s;
    options.probe_timeout = 700ms;
    driver::circuit_breaker_fsm breaker(options);
    feed(breaker, 2, failed, window_begin);
    feed(breaker, 2, good, window_begin);
    EXPECT_TRUE(breaker.allows()) << "half of four is below the percentage";
    feed(breaker, 3, failed, window_begin + 30s);
    EXPECT_TRUE(breaker.allows()) << "the first four have left the window: below the volume";
    feed(breaker, 1, good, window_begin + 30s);
    EXPECT_FALSE(breaker.allows());
    const time_point opened = window_begin + 30s;
    EXPECT_EQ(breaker.next_due(), opened + 2s);
    EXPECT_TRUE(breaker.on_due(opened + 2s));
    EXPECT_EQ(breaker.next_due(), opened + 2700ms) << "how long the probe may take";
    EXPECT_FALSE(breaker.on_due(opened + 2700ms));
    EXPECT_EQ(breaker.next_due(), opened + 4700ms) << "the next sleep";
}

TEST(circuit_breaker_fsm, RH_34_late_outcomes_change_nothing) {
    driver::circuit_breaker_fsm breaker = opened_at(window_begin);
    feed(breaker, 100, good, window_begin + 1s);
    breaker.on_probe_lost(window_begin + 1s);
    EXPECT_EQ(breaker.state(), circuit_state::open);
    EXPECT_EQ(breaker.next_due(), window_begin + 5s);
}

// Threads read the clock before they take the lock, so outcomes may arrive in another order than
// they happened. Once, a late one set the window back, and the next one aged everything twice.
TEST(circuit_breaker_fsm, an_outcome_that_is_reported_late_does_not_age_the_others) {
    driver::circuit_breaker_fsm breaker({.volume_threshold = 20, .rolling_window = 30ms});
    feed(breaker, 10, failed, window_begin + 20ms);
    for (int index = 0; index < 5; ++index) {
        breaker.on_outcome(good, window_begin);
        breaker.on_outcome(failed, window_begin + 20ms);
    }
    EXPECT_FALSE(breaker.allows());
}

TEST(circuit_breaker_fsm, contradictions_are_refused_by_name) {
    const auto field_of = [](const driver::circuit_breaker_options& options) {
        const auto error = check(options);
        return error ? error->field : "";
    };
    EXPECT_EQ(field_of({}), "");
    EXPECT_EQ(field_of({.volume_threshold = 0}), "volume_threshold");
    EXPECT_EQ(field_of({.error_threshold_percent = 0}), "error_threshold_percent");
    EXPECT_EQ(field_of({.error_threshold_percent = 101}), "error_threshold_percent");
    EXPECT_EQ(field_of({.rolling_window = 0s}), "rolling_window");
    EXPECT_EQ(field_of({.sleep_window = duration::max()}), "sleep_window");
    EXPECT_EQ(field_of({.probe_timeout = -1s}), "probe_timeout");
}

}  // namespace reprise::circuit_breaker_fsm_test
