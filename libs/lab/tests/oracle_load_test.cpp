#include <gtest/gtest.h>

#include <cmath>

#include "oracle_models.hpp"

/// How much retries multiply the load, compared with closed forms. See docs/design/lab_oracles.md.

namespace reprise::lab::oracles {

namespace {

void expect_within(double actual, double expected, double tolerance) {
    EXPECT_NEAR(actual, expected, tolerance * expected);
}

}  // namespace

TEST(load_oracle, three_tries_over_five_layers_multiply_to_243) {
    const run_result result = run(failing_chain(5, free_attempts(3), 1));
    EXPECT_EQ(result.totals().failed, 100U);
    EXPECT_DOUBLE_EQ(result.amplification_at(4), 243.0);
    EXPECT_DOUBLE_EQ(result.amplification_at(2), 27.0);
}

TEST(load_oracle, four_tries_over_three_layers_multiply_to_64) {
    EXPECT_DOUBLE_EQ(run(failing_chain(3, free_attempts(4), 1)).amplification_at(2), 64.0);
}

TEST(load_oracle, a_passed_allowance_keeps_five_layers_at_three_tries) {
    retry_options retries = free_attempts(3);
    retries.passes_allowance = true;
    const run_result result = run(failing_chain(5, retries, 1));
    EXPECT_DOUBLE_EQ(result.amplification_at(4), 3.0);
    EXPECT_GT(result.totals().refused(refusal_reason::outer_allowance), 0U);
}

TEST(load_oracle, retries_at_an_independent_failure_rate_add_a_geometric_series) {
    for (const double share : {0.1, 0.5, 0.9}) {
        for (const std::uint32_t retries : {1U, 2U, 4U}) {
            const run_result result = run(failing_model(share, free_attempts(retries + 1)));
            double expected = 0.0;
            for (std::uint32_t k = 0; k <= retries; ++k) {
                expected += std::pow(share, k);
            }
            SCOPED_TRACE(testing::Message() << share << " " << retries);
            expect_within(result.amplification(), expected, 0.02);
        }
    }
}

TEST(load_oracle, a_success_funded_bucket_adds_five_percent_at_half_and_nothing_at_total_failure) {
    const driver::retry_prices tenth{1.0, 1.0, std::nullopt, 0.1, false};
    expect_within(run(failing_model(0.5, paid_attempts(10, tenth))).amplification(), 1.053, 0.02);
    expect_within(run(failing_model(1.0, paid_attempts(10, tenth))).amplification(), 1.0, 1e-9);
}

TEST(load_oracle, an_aws_quota_that_binds_adds_what_its_prices_allow) {
    const auto with_cost = [](double cost) {
        return driver::retry_prices{cost, cost, std::nullopt, 1.0, true};
    };
    expect_within(
        run(failing_model(0.5, paid_attempts(3, with_cost(5.0)))).amplification(), 1.2, 0.02);
    expect_within(
        run(failing_model(0.5, paid_attempts(3, with_cost(14.0)))).amplification(), 1.071, 0.02);
}

TEST(load_oracle, the_grpc_throttle_cuts_retries_above_nine_percent_failures) {
    retry_options retries = free_attempts(4);
    retries.budget = failure_throttle_options{.units_max = 1000.0, .ratio = 0.1};
    retries.budget_sharing = sharing::shared;
    const run_result below = run(failing_model(0.085, retries));
    EXPECT_EQ(below.totals().refused(refusal_reason::budget_exhausted), 0U);
    const run_result above = run(failing_model(0.1, retries));
    EXPECT_GT(above.totals().refused(refusal_reason::budget_exhausted), 0U);
    const std::vector<slot>& slots = above.services.front().slots;
    const slot last = join_slots(std::span(slots).last(200), 200).front();
    EXPECT_LT(static_cast<double>(last.attempts) / last.offered, 1.01);
}

TEST(load_oracle, a_request_funded_budget_of_twenty_percent_allows_twenty_percent_in_each_layer) {
    retry_options retries = free_attempts(1);
    retries.attempts_max.reset();
    retries.budget = windowed_budget_options{.percent = 20.0, .minimum_per_second = 0.0};
    retries.budget_sharing = sharing::shared;
    expect_within(run(failing_model(1.0, retries)).amplification(), 1.2, 0.02);
    model chain = failing_chain(5, retries, 1);
    chain.length = 20s;
    chain.clients.arrivals = arrivals::open;
    chain.clients.requests_each.reset();
    chain.clients.requests_per_second = 2000.0;
    const run_result layered = run(chain);
    expect_within(layered.amplification_at(4), std::pow(1.2, 5), 0.02);
}

TEST(load_oracle, a_cold_fleet_spends_its_buckets_whatever_the_service_answers) {
    const auto fleet = [](double cost, std::optional<double> initial) {
        retry_options retries = free_attempts(3);
        retries.budget =
            bucket_options{{.capacity = 500.0, .initial = initial}, {cost, cost, {}, 1.0, false}};
        model result;
        result.clients.count = 2000;
        result.clients.arrivals = arrivals::closed;
        result.clients.think_time = 100ms;
        result.clients.requests_each = 100;
        result.clients.retries = retries;
        result.services = {failing_service(1.0)};
        return run(result);
    };
    const run_result full = fleet(5.0, std::nullopt);
    EXPECT_EQ(full.totals().calls, 200'000U);
    expect_within(full.amplification(), 2.0, 0.02);
    expect_within(fleet(14.0, std::nullopt).amplification(), 1.35, 0.02);
    EXPECT_LE(fleet(5.0, 0.0).amplification(), 1.05);
}

}  // namespace reprise::lab::oracles
