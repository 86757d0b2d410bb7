#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include <reprise/lab/scenario.hpp>
#include <reprise/lab/storm.hpp>

namespace reprise::lab {

using namespace std::chrono_literals;

namespace scenario_test {

comparison run_scenario(std::string_view name, std::uint64_t seed) {
    storm_options options = find_scenario(name)->options;
    options.seed = seed;
    return compare_policies(options);
}

/// Useful answers of the last ten seconds per request offered in that time.
double final_level(const storm_result& result) {
    double offered = 0.0;
    double useful = 0.0;
    for (const slot& s : std::span(result.slots).last(100)) {
        offered += s.offered;
        useful += s.useful;
    }
    return useful / offered;
}

struct refused_option {
    const char* field;
    std::function<void(storm_options&)> invalidate;
};

}  // namespace scenario_test

using namespace scenario_test;

// What the two models demonstrate must hold for every seed.

TEST(scenario, metastable_never_recovers_under_naive_retries_and_does_under_the_standard_strategy) {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        SCOPED_TRACE(seed);
        const comparison compared = run_scenario("metastable", seed);
        const auto& [none, naive, standard] = compared.results;
        EXPECT_EQ(none.recovery.outcome, recovery_outcome::recovered);
        EXPECT_EQ(naive.recovery.outcome, recovery_outcome::never);
        EXPECT_LT(final_level(naive), 0.01);
        ASSERT_EQ(standard.recovery.outcome, recovery_outcome::recovered);
        EXPECT_LT(standard.recovery.after, 15s);
        EXPECT_GT(final_level(standard), 0.99);
        EXPECT_GT(standard.success_share(), 5.0 * naive.success_share());
    }
}

TEST(scenario, metastable_storm_is_stopped_by_the_bucket_and_not_by_the_backoff_alone) {
    storm_options options = find_scenario("metastable")->options;
    options.standard.bucket.capacity = 1e9;
    const storm_result unlimited = run_storm(options, policy::standard);
    EXPECT_NE(unlimited.recovery.outcome, recovery_outcome::recovered);
}

// The rule of thumb that the library's linter uses.
TEST(scenario, metastable_storm_of_naive_retries_heals_only_below_capacity_divided_by_attempts) {
    storm_options options = find_scenario("metastable")->options;
    const double healing_load = options.capacity_per_second / options.attempts_max;
    options.requests_per_second = 0.9 * healing_load;
    EXPECT_EQ(run_storm(options, policy::naive).recovery.outcome, recovery_outcome::recovered);
    options.requests_per_second = 1.1 * healing_load;
    EXPECT_EQ(run_storm(options, policy::naive).recovery.outcome, recovery_outcome::never);
}

// A bucket limits retries per client. Of a thousand clients that hardly ever send, each can pay for
// all its retries, and together they cause the storm that the bucket should prevent.
TEST(scenario, outage_with_many_slow_clients_needs_smaller_buckets) {
    storm_options options = find_scenario("outage")->options;
    options.clients = 1000;
    EXPECT_EQ(run_storm(options, policy::standard).recovery.outcome, recovery_outcome::never);
    options.standard.bucket.capacity = 10.0;
    EXPECT_EQ(run_storm(options, policy::standard).recovery.outcome, recovery_outcome::recovered);
}

TEST(scenario, outage_recovers_under_every_policy_but_naive_retries_multiply_the_load) {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        SCOPED_TRACE(seed);
        const comparison compared = run_scenario("outage", seed);
        const auto& [none, naive, standard] = compared.results;
        for (const storm_result& result : compared.results) {
            ASSERT_EQ(result.recovery.outcome, recovery_outcome::recovered);
            EXPECT_LT(result.recovery.after, 2s);
        }
        EXPECT_GT(naive.worst_amplification, 4.5);
        EXPECT_LT(standard.worst_amplification, 3.5);
        EXPECT_LT(standard.amplification(), 1.2);
        EXPECT_LT(none.worst_amplification, 1.2);
    }
}

TEST(scenario, retries_recover_from_single_faults_without_an_outage) {
    storm_options options = find_scenario("outage")->options;
    options.outage_length = 0s;
    const comparison compared = compare_policies(options);
    const auto& [none, naive, standard] = compared.results;
    EXPECT_NEAR(none.success_share(), 0.99, 0.003);
    EXPECT_GT(naive.success_share(), 0.9999);
    EXPECT_GT(standard.success_share(), 0.9999);
    EXPECT_EQ(none.recovery.outcome, recovery_outcome::no_outage);
}

TEST(scenario, names_are_found_and_unknown_names_are_not) {
    ASSERT_EQ(scenarios().size(), 3U);
    for (const scenario& one : scenarios()) {
        EXPECT_EQ(find_scenario(one.name), &one);
        EXPECT_EQ(check(one.options), std::nullopt);
    }
    EXPECT_EQ(find_scenario("calm"), nullptr);
    EXPECT_EQ(find_scenario(""), nullptr);
}

TEST(scenario, invalid_options_are_rejected_with_their_name) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const double infinity = std::numeric_limits<double>::infinity();
    const refused_option cases[] = {
        {"clients", [](auto& o) { o.clients = 0; }},
        {"clients", [](auto& o) { o.clients = 1'000'001; }},
        {"requests_per_second", [](auto& o) { o.requests_per_second = 0.0; }},
        {"requests_per_second", [=](auto& o) { o.requests_per_second = nan; }},
        {"requests_per_second", [](auto& o) { o.requests_per_second = 1e6; }},
        {"capacity_per_second", [](auto& o) { o.capacity_per_second = -1.0; }},
        {"capacity_per_second", [=](auto& o) { o.capacity_per_second = infinity; }},
        {"queue_limit", [](auto& o) { o.queue_limit = 10'000'001; }},
        {"fault_share", [](auto& o) { o.fault_share = 1.01; }},
        {"fault_share", [=](auto& o) { o.fault_share = nan; }},
        {"slow_share", [](auto& o) { o.slow_share = -0.1; }},
        {"slow_delay", [](auto& o) { o.slow_delay = 2h; }},
        {"hedge_delay", [](auto& o) { o.hedge_delay = 0s; }},
        {"attempts_max", [](auto& o) { o.attempts_max = 0; }},
        {"attempts_max", [](auto& o) { o.attempts_max = 101; }},
        {"network_delay", [](auto& o) { o.network_delay = -1ns; }},
        {"attempt_timeout", [](auto& o) { o.attempt_timeout = 0s; }},
        {"attempt_timeout", [](auto& o) { o.attempt_timeout = duration::max(); }},
        {"length", [](auto& o) { o.length = 0s; }},
        {"length", [](auto& o) { o.length = 60050ms; }},
        {"length", [](auto& o) { o.length = 24s; }},
        {"outage_length", [](auto& o) { o.outage_length = -1s; }},
        {"outage_start", [](auto& o) { o.outage_start = 1s; }},
        {"standard.bucket.capacity", [](auto& o) { o.standard.bucket.capacity = 0.0; }},
    };
    for (const refused_option& one : cases) {
        storm_options options;
        one.invalidate(options);
        const std::optional<settings_error> error = check(options);
        ASSERT_TRUE(error.has_value()) << one.field;
        EXPECT_EQ(error->field, one.field);
        EXPECT_FALSE(error->message.empty());
    }
    EXPECT_EQ(check(storm_options{}), std::nullopt);
}

}  // namespace reprise::lab
