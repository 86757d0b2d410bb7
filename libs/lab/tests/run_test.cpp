#include <gtest/gtest.h>

#include <numeric>

#include "oracle_models.hpp"

/// The effect of each part of a model on the totals.

namespace reprise::lab {

using namespace std::chrono_literals;

namespace {

/// 500/s of 1,000, with a timeout.
model healthy_model() {
    model result;
    result.length = 40s;
    result.clients.requests_per_second = 500.0;
    result.clients.retries = oracles::free_attempts(1);
    result.clients.retries.attempt_timeout = 500ms;
    result.services.front().capacity_per_second = 1000.0;
    return result;
}

model with_trouble(model base, const trouble& what) {
    base.troubles = {what};
    return base;
}

std::uint64_t add_up(const service_result& service, std::uint32_t slot::* member) {
    return std::accumulate(
        service.slots.begin(), service.slots.end(), std::uint64_t{0},
        [&](std::uint64_t sum, const slot& s) { return sum + s.*member; });
}

void expect_that_all_is_accounted_for(const run_result& result) {
    for (const service_result& service : result.services) {
        const service_totals& t = service.totals;
        EXPECT_EQ(t.calls, t.succeeded + t.failed + t.unfinished);
        EXPECT_EQ(t.sent, t.arrived + t.on_the_way);
        EXPECT_EQ(t.arrived, t.done + t.rejected + t.dropped + service.slots.back().waiting);
        EXPECT_EQ(t.calls, add_up(service, &slot::offered));
        EXPECT_EQ(t.arrived, add_up(service, &slot::attempts));
        EXPECT_EQ(t.succeeded, add_up(service, &slot::useful));
        EXPECT_EQ(t.failed, add_up(service, &slot::failed));
        EXPECT_EQ(t.wasted, add_up(service, &slot::wasted));
        EXPECT_EQ(t.rejected, add_up(service, &slot::errors));
    }
}

/// Useful answers per second between two times.
double useful_rate(const run_result& result, duration from, duration to) {
    const auto first = static_cast<std::size_t>(from / slot_length);
    const auto count = static_cast<std::size_t>((to - from) / slot_length);
    const auto slots = std::span(result.services.front().slots).subspan(first, count);
    return join_slots(slots, count).front().useful / oracles::seconds_of(to - from);
}

}  // namespace

TEST(run, accounts_for_every_attempt_in_every_trouble) {
    for (const trouble_kind kind :
         {trouble_kind::stall, trouble_kind::crash, trouble_kind::slow_down,
          trouble_kind::capacity_loss, trouble_kind::errors, trouble_kind::slow_answers,
          trouble_kind::bad_node, trouble_kind::spike, trouble_kind::deploy}) {
        SCOPED_TRACE(to_string(kind));
        model asked = with_trouble(healthy_model(), {.kind = kind, .burst = 2});
        asked.clients.retries = find_retry_preset("standard")->options;
        asked.clients.retries.attempt_timeout = 200ms;
        asked.clients.retries.hedge = hedge_options{.delay = 50ms, .percentile = std::nullopt};
        asked.services.front().nodes = 3;
        asked.services.front().queue_limit = 200;
        asked.services.front().drops_expired = true;
        asked.services.front().calls = {{"store", 2}};
        asked.services.push_back({.name = "store", .work_mean = 2ms, .failure_share = 0.05});
        asked.services.back().retries = oracles::free_attempts(2);
        expect_that_all_is_accounted_for(run(asked));
    }
}

TEST(run, gives_the_same_result_for_the_same_seed_and_another_for_another) {
    model asked = healthy_model();
    const std::uint64_t first = run(asked).totals().calls;
    EXPECT_EQ(run(asked).totals().calls, first);
    asked.seed = 2;
    EXPECT_NE(run(asked).totals().calls, first);
}

TEST(run, ends_where_its_monitor_stops_it) {
    const run_result result = run(healthy_model(), [](double share) { return share >= 0.5; });
    EXPECT_FALSE(result.is_complete);
    EXPECT_EQ(result.services.front().slots.size(), 200U);
}

TEST(run, refuses_an_invalid_model_by_name) {
    model asked = healthy_model();
    asked.services.front().capacity_per_second = 0.0;
    try {
        static_cast<void>(run(asked));
        FAIL();
    } catch (const invalid_settings& error) {
        EXPECT_EQ(error.field(), "services[0].capacity_per_second");
    }
}

TEST(run, stalled_work_is_done_afterwards_and_crashed_work_is_answered_with_errors) {
    const run_result stalled = run(with_trouble(healthy_model(), {.kind = trouble_kind::stall}));
    EXPECT_EQ(stalled.totals().rejected, 0U);
    EXPECT_GT(stalled.totals().wasted, 4000U);
    const run_result crashed = run(with_trouble(healthy_model(), {.kind = trouble_kind::crash}));
    EXPECT_NEAR(static_cast<double>(crashed.totals().rejected), 5000.0, 300.0);
    EXPECT_EQ(crashed.totals().wasted, 0U);
    EXPECT_EQ(crashed.recovery.after, 0s);
}

TEST(run, a_slow_down_beyond_the_capacity_leaves_a_queue) {
    const run_result result =
        run(with_trouble(healthy_model(), {.kind = trouble_kind::slow_down, .factor = 4.0}));
    // 500/s arrive and 250/s are done for 10 s.
    EXPECT_NEAR(result.totals().waiting_max, 2500.0, 300.0);
    EXPECT_EQ(
        run(with_trouble(healthy_model(), {.kind = trouble_kind::capacity_loss, .share = 0.75}))
            .totals()
            .waiting_max,
        result.totals().waiting_max);
}

TEST(run, a_bad_node_fails_its_share_and_retries_find_another_one) {
    model asked = with_trouble(healthy_model(), {.kind = trouble_kind::bad_node, .share = 1.0});
    asked.services.front().nodes = 4;
    EXPECT_NEAR(useful_rate(run(asked), 10s, 20s), 375.0, 20.0);
    asked.clients.retries.attempts_max = 4;
    EXPECT_NEAR(useful_rate(run(asked), 10s, 20s), 500.0, 20.0);
}

TEST(run, a_spike_multiplies_arrivals_while_it_lasts) {
    const run_result result =
        run(with_trouble(healthy_model(), {.kind = trouble_kind::spike, .factor = 1.5}));
    EXPECT_NEAR(useful_rate(result, 10s, 20s), 750.0, 40.0);
    EXPECT_NEAR(useful_rate(result, 30s, 40s), 500.0, 40.0);
}

TEST(run, a_deploy_gives_clients_new_budgets) {
    model asked = with_trouble(healthy_model(), {.kind = trouble_kind::deploy, .burst = 3});
    asked.services.front().failure_share = 1.0;
    asked.clients.retries = oracles::free_attempts(3);
    asked.clients.retries.budget = bucket_options{{.capacity = 50.0, .initial = {}}, {}};
    const run_result result = run(asked);
    // 20 clients spend 10 retries each, and after their restart 10 more.
    EXPECT_EQ(result.totals().sent - result.totals().calls, 400U);
    const model without = [&] {
        model changed = asked;
        changed.troubles.clear();
        return changed;
    }();
    EXPECT_EQ(run(without).totals().sent - run(without).totals().calls, 200U);
    EXPECT_EQ(result.totals().calls - run(without).totals().calls, 60U);
}

TEST(run, warm_clients_start_with_a_full_bucket) {
    model asked = healthy_model();
    asked.services.front().failure_share = 1.0;
    asked.clients.retries = oracles::free_attempts(3);
    asked.clients.retries.budget = bucket_options{{.capacity = 50.0, .initial = 0.0}, {}};
    EXPECT_EQ(run(asked).amplification(), 1.0);
    asked.clients.is_warm = true;
    EXPECT_EQ(run(asked).totals().sent - run(asked).totals().calls, 200U);
}

TEST(run, a_last_in_queue_serves_some_clients_in_an_overload_where_a_first_in_queue_serves_none) {
    model asked = healthy_model();
    asked.clients.requests_per_second = 1500.0;
    EXPECT_LT(run(asked).final_useful_rate(), 10.0);
    asked.services.front().order = queue_order::last_in;
    EXPECT_GT(run(asked).final_useful_rate(), 900.0);
}

TEST(run, shedding_load_keeps_answers_in_time) {
    model asked = healthy_model();
    asked.clients.requests_per_second = 1500.0;
    asked.services.front().shed_after = 100ms;
    const run_result result = run(asked);
    EXPECT_GT(result.final_useful_rate(), 950.0);
    EXPECT_GT(result.totals().rejected, 10'000U);
}

TEST(run, a_breaker_keeps_attempts_away_from_a_service_that_is_down) {
    model asked = with_trouble(healthy_model(), {.kind = trouble_kind::crash});
    asked.clients.retries.breaker =
        driver::circuit_breaker_options{.rolling_window = 1s, .sleep_window = 1s};
    const run_result result = run(asked);
    EXPECT_LT(result.totals().rejected, 1000U);
    EXPECT_GT(result.totals().refused(refusal_reason::circuit_open), 3000U);
    EXPECT_TRUE(result.recovery.has_recovered());
}

TEST(run, a_deadline_ends_calls_and_a_propagated_one_ends_the_calls_below) {
    model asked = healthy_model();
    asked.clients.retries.attempt_timeout.reset();
    asked.clients.retries.deadline = 100ms;
    asked.services.front().calls = {{"store", 1}};
    asked.services.push_back({.name = "store", .failure_share = 1.0});
    asked.services.back().network_delay = 20ms;
    asked.services.front().retries = oracles::free_attempts(50);
    const run_result own = run(asked);
    EXPECT_EQ(own.totals().succeeded, 0U);
    EXPECT_NEAR(own.amplification_at(1), 50.0, 3.0);
    asked.clients.retries.propagates_deadline = true;
    const run_result propagated = run(asked);
    EXPECT_LT(propagated.amplification_at(1), 4.0);
    EXPECT_GT(propagated.services[1].totals.refused(refusal_reason::deadline), 0U);
}

TEST(run, waiting_calls_are_woken_at_once_or_at_a_pace) {
    model asked = with_trouble(healthy_model(), {.kind = trouble_kind::crash});
    asked.clients.retries.attempts_max.reset();
    asked.clients.retries.delays = {8s};
    const auto worst_second = [&](const std::optional<wake_options>& wake) {
        model changed = asked;
        changed.clients.retries.wake = wake;
        const run_result result = run(changed);
        const auto slots = std::span(result.services.front().slots).subspan(200, 10);
        return join_slots(slots, 10).front().attempts;
    };
    // 4,000 calls wait at 20 s, when 500/s arrive.
    EXPECT_GT(worst_second(wake_options{}), 4000U);
    EXPECT_LT(worst_second(wake_options{.per_second = 200.0}), 900U);
}

TEST(run, failed_requests_count_as_slower_than_all_others) {
    model asked = healthy_model();
    asked.services.front().failure_share = 0.3;
    const run_result result = run(asked);
    EXPECT_TRUE(result.latency.p50.has_value());
    EXPECT_FALSE(result.latency.p90.has_value());
}

}  // namespace reprise::lab
