#include <gtest/gtest.h>

#include "oracle_models.hpp"

/// Storms: where a system stays down, and how jitter helps. See docs/design/lab_oracles.md.

namespace reprise::lab::oracles {

namespace {

/// One server of 300/s with a queue without limit, which stalls for 10 s.
model storm_model(double rate, std::uint32_t attempts, duration length) {
    model result;
    result.length = length;
    result.clients.requests_per_second = rate;
    result.clients.retries.attempts_max = attempts;
    result.clients.retries.backoff = {50ms, 2.0, 20s, jitter::full, std::nullopt};
    result.clients.retries.attempt_timeout = 1s;
    service_options server;
    server.capacity_per_second = 300.0;
    result.services = {server};
    result.troubles = {{.kind = trouble_kind::stall, .start = 10s, .length = 10s}};
    return result;
}

bool recovers(double rate, std::uint32_t attempts) {
    const run_result result = run(storm_model(rate, attempts, 600s));
    const double useful = result.final_useful_rate(30s);
    return useful > 0.9 * rate;
}

/// 100 writers update one record as soon as they can.
struct herd_result {
    double calls = 0.0;
    double seconds = 0.0;
};

herd_result run_herd(const driver::backoff_options& backoff) {
    herd_result sum;
    constexpr int seeds = 30;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        model asked;
        asked.seed = seed;
        asked.length = 300s;
        asked.clients.count = 100;
        asked.clients.arrivals = arrivals::closed;
        asked.clients.think_time = 0ms;
        asked.clients.requests_each = 1;
        asked.clients.retries.attempts_max.reset();
        asked.clients.retries.backoff = backoff;
        asked.services.front().network_delay = 10ms;
        asked.services.front().network_jitter = 2ms;
        asked.services.front().is_contended_record = true;
        const run_result result = run(asked);
        EXPECT_EQ(result.totals().succeeded, 100U);
        sum.calls += static_cast<double>(result.totals().sent) / seeds;
        sum.seconds += seconds_of(result.finished_at) / seeds;
    }
    return sum;
}

}  // namespace

TEST(storm_oracle, two_attempts_recover_at_145_and_stay_down_at_155) {
    EXPECT_TRUE(recovers(145.0, 2));
    EXPECT_FALSE(recovers(155.0, 2));
}

TEST(storm_oracle, three_attempts_recover_at_97_and_stay_down_at_103) {
    EXPECT_TRUE(recovers(97.0, 3));
    EXPECT_FALSE(recovers(103.0, 3));
}

TEST(storm_oracle, three_attempts_without_a_budget_leave_no_useful_work) {
    EXPECT_LT(run(storm_model(280.0, 3, 190s)).final_useful_rate(20s), 1.0);
}

/// The queue of dead work drains at the rate that the load leaves over, 300/s - 280/s. Answers are
/// in time again when less than a second of work is left. Until then, retries are those that the
/// bucket held when the outage began: they lengthen the queue. So the useful work at 180 s is 0 or
/// 280/s, depending on what the bucket held; see docs/design/lab_oracles.md on the figure of 251/s.
TEST(storm_oracle, a_bucket_brings_useful_work_back_when_the_dead_work_has_drained) {
    for (const double level : {0.0, 300.0, 600.0}) {
        SCOPED_TRACE(level);
        model paid = storm_model(280.0, 3, 240s);
        paid.clients.retries.budget = bucket_options{
            {.capacity = std::max(level, 1.0), .initial = level},
            {1.0, 1.0, std::nullopt, 0.1, false}};
        paid.clients.retries.budget_sharing = sharing::shared;
        std::vector<double> back_after;
        for (std::uint64_t seed = 1; seed <= 8; ++seed) {
            paid.seed = seed;
            const run_result result = run(paid);
            EXPECT_NEAR(result.final_useful_rate(20s), 280.0, 14.0);
            back_after.push_back(seconds_of(result.recovery.after));
        }
        const double expected = (2800.0 + level - 300.0) / (300.0 - 280.0);
        EXPECT_NEAR(estimate_of(back_after).mean, expected, 0.1 * expected);
    }
}

TEST(storm_oracle, a_server_that_drops_expired_work_brings_useful_work_back_at_once) {
    model dropping = storm_model(280.0, 3, 190s);
    dropping.clients.retries.budget =
        bucket_options{{.capacity = 100.0, .initial = 0.0}, {1.0, 1.0, std::nullopt, 0.1, false}};
    dropping.clients.retries.budget_sharing = sharing::shared;
    dropping.services.front().drops_expired = true;
    const run_result result = run(dropping);
    EXPECT_NEAR(result.final_useful_rate(20s), 276.0, 27.6);
    EXPECT_LT(result.recovery.after, 5s);
    EXPECT_GT(result.totals().dropped, 0U);
}

TEST(storm_oracle, jitter_keeps_a_herd_of_writers_apart) {
    const auto shaped = [](jitter kind) {
        return driver::backoff_options{5ms, 2.0, 2000ms, kind, std::nullopt};
    };
    const herd_result full = run_herd(shaped(jitter::full));
    const auto relative = [&](const driver::backoff_options& backoff) {
        const herd_result result = run_herd(backoff);
        return herd_result{result.calls / full.calls, result.seconds / full.seconds};
    };
    const herd_result none = relative({0ms, 2.0, 0ms, jitter::none, std::nullopt});
    const herd_result plain = relative(shaped(jitter::none));
    const herd_result equal = relative(shaped(jitter::equal));
    const herd_result decorrelated = relative(shaped(jitter::decorrelated));
    const auto expect = [](const herd_result& seen, double calls, double seconds) {
        EXPECT_NEAR(seen.calls, calls, 0.25 * calls);
        EXPECT_NEAR(seen.seconds, seconds, 0.25 * seconds);
    };
    expect(none, 3.1, 0.41);
    expect(plain, 2.3, 12.6);
    expect(equal, 1.02, 1.3);
    expect(decorrelated, 1.24, 0.90);
    // The order of the five.
    EXPECT_GT(none.calls, plain.calls);
    EXPECT_GT(plain.calls, decorrelated.calls);
    EXPECT_GT(decorrelated.calls, equal.calls);
    EXPECT_LT(none.seconds, decorrelated.seconds);
    EXPECT_LT(decorrelated.seconds, 1.0);
    EXPECT_LT(1.0, equal.seconds);
    EXPECT_LT(equal.seconds, plain.seconds);
}

}  // namespace reprise::lab::oracles
