#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include <reprise/lab/report.hpp>
#include <reprise/lab/scenario.hpp>
#include <reprise/lab/storm.hpp>

/// Compares runs with what is known without running: conservation, queueing theory, and limits of
/// strategies.

namespace reprise::lab {

using namespace std::chrono_literals;

namespace storm_test {

storm_options scenario_options(std::string_view name) {
    const scenario* found = find_scenario(name);
    return found == nullptr ? storm_options{} : found->options;
}

/// One healthy server, patient clients and no faults: a textbook queue behind a network without
/// delay.
storm_options textbook_queue(double load) {
    storm_options options;
    options.requests_per_second = load;
    options.capacity_per_second = 1000.0;
    options.queue_limit = 1'000'000;
    options.fault_share = 0.0;
    options.network_delay = 0ms;
    options.attempt_timeout = 1h;
    options.outage_length = 0s;
    options.length = 2000s;
    return options;
}

double mean_latency(const storm_result& result) {
    return std::chrono::duration<double>(result.totals.latency_sum).count() /
           static_cast<double>(result.totals.succeeded);
}

std::uint64_t add_up(const storm_result& result, std::uint32_t slot::* member) {
    return std::accumulate(
        result.slots.begin(), result.slots.end(), std::uint64_t{0},
        [&](std::uint64_t sum, const slot& s) { return sum + s.*member; });
}

void expect_that_all_is_accounted_for(const storm_result& result) {
    const storm_totals& t = result.totals;
    EXPECT_EQ(t.requests, t.succeeded + t.failed + t.unfinished);
    EXPECT_EQ(t.attempts_sent, t.attempts_arrived + t.on_the_way);
    EXPECT_EQ(t.attempts_arrived, t.work_done + t.errors + result.slots.back().waiting);
    EXPECT_EQ(t.work_done, t.succeeded + t.wasted + t.faults + t.answers_on_the_way);
    EXPECT_EQ(t.requests, add_up(result, &slot::offered));
    EXPECT_EQ(t.attempts_arrived, add_up(result, &slot::attempts));
    EXPECT_EQ(t.succeeded, add_up(result, &slot::useful));
    EXPECT_EQ(t.wasted, add_up(result, &slot::wasted));
    EXPECT_EQ(t.errors, add_up(result, &slot::errors));
    EXPECT_EQ(t.failed, add_up(result, &slot::failed));
}

}  // namespace storm_test

using namespace storm_test;

TEST(storm, every_request_attempt_and_piece_of_work_is_accounted_for_under_every_policy) {
    for (const scenario& one : scenarios()) {
        for (const storm_result& result : compare_policies(one.options).results) {
            SCOPED_TRACE(std::string(one.name) + ", " + std::string(to_string(result.policy)));
            expect_that_all_is_accounted_for(result);
            EXPECT_GT(result.totals.succeeded, 0U);
            EXPECT_EQ(result.slots.size(), static_cast<std::size_t>(one.options.length / 100ms));
        }
    }
}

TEST(storm, without_retries_each_request_is_exactly_one_attempt) {
    for (const char* name : {"outage", "metastable"}) {
        const storm_result result = run_storm(scenario_options(name), policy::no_retries);
        EXPECT_EQ(result.totals.attempts_sent, result.totals.requests);
        EXPECT_DOUBLE_EQ(result.amplification(), 1.0);
    }
}

TEST(storm, all_policies_get_the_same_arrivals) {
    const comparison compared = compare_policies(scenario_options("metastable"));
    const auto& [none, naive, standard] = compared.results;
    for (std::size_t i = 0; i < none.slots.size(); ++i) {
        ASSERT_EQ(none.slots[i].offered, naive.slots[i].offered);
        ASSERT_EQ(none.slots[i].offered, standard.slots[i].offered);
    }
}

TEST(storm, the_same_seed_gives_the_same_bytes_and_another_seed_does_not) {
    storm_options options = scenario_options("outage");
    const report_heading names{"outage", "title", "command"};
    const std::string first = to_json(compare_policies(options), names);
    EXPECT_EQ(first, to_json(compare_policies(options), names));
    options.seed = 2;
    EXPECT_NE(first, to_json(compare_policies(options), names));
}

TEST(storm, arrivals_have_mean_and_variance_of_a_poisson_process) {
    storm_options options = textbook_queue(500.0);
    const storm_result result = run_storm(options, policy::no_retries);
    const auto count = static_cast<double>(result.slots.size());
    const double mean = static_cast<double>(result.totals.requests) / count;
    double squares = 0.0;
    for (const slot& s : result.slots) {
        squares += (s.offered - mean) * (s.offered - mean);
    }
    EXPECT_NEAR(mean, 50.0, 0.5);
    EXPECT_NEAR(squares / count / mean, 1.0, 0.05);  // Variance equals mean.
}

TEST(storm, mean_time_at_the_server_is_that_of_the_textbook_m_m_1_queue) {
    const storm_result result = run_storm(textbook_queue(700.0), policy::no_retries);
    EXPECT_NEAR(mean_latency(result), 1.0 / (1000.0 - 700.0), 0.05 / 300.0);
}

TEST(storm, mean_time_at_the_server_is_that_of_the_m_d_1_queue_with_fixed_service_times) {
    storm_options options = textbook_queue(700.0);
    options.service_time = service_time::fixed;
    const double expected = 0.001 + 0.7 / (2.0 * 1000.0 * (1.0 - 0.7));
    EXPECT_NEAR(mean_latency(run_storm(options, policy::no_retries)), expected, 0.03 * expected);
}

TEST(storm, share_rejected_by_a_short_queue_follows_erlangs_formula) {
    storm_options options = textbook_queue(800.0);
    options.queue_limit = 4;  // Five places, including the one in service: M/M/1/5.
    const storm_result result = run_storm(options, policy::no_retries);
    const double rho = 0.8;
    const double expected = (1.0 - rho) * std::pow(rho, 5) / (1.0 - std::pow(rho, 6));
    const double seen =
        static_cast<double>(result.totals.errors) / static_cast<double>(result.totals.requests);
    EXPECT_NEAR(seen, expected, 0.03 * expected);
    EXPECT_EQ(result.totals.failed, result.totals.errors);
}

TEST(storm, naive_retries_use_all_their_attempts_when_everything_is_refused) {
    storm_options options = scenario_options("outage");
    options.outage_start = 2s;
    options.outage_length = 50s;
    options.length = 60s;
    options.attempts_max = 3;
    const storm_result result = run_storm(options, policy::naive);
    std::uint64_t offered = 0;
    std::uint64_t attempts = 0;
    for (std::size_t i = 30; i < 510; ++i) {
        offered += result.slots[i].offered;
        attempts += result.slots[i].attempts;
        ASSERT_EQ(result.slots[i].useful, 0U);
    }
    const double per_request = static_cast<double>(attempts) / static_cast<double>(offered);
    EXPECT_NEAR(per_request, 3.0, 0.01);
}

TEST(storm, no_policy_exceeds_its_attempts_per_request) {
    for (const std::uint32_t attempts : {1U, 2U, 7U}) {
        storm_options options = scenario_options("metastable");
        options.attempts_max = attempts;
        for (const storm_result& result : compare_policies(options).results) {
            EXPECT_LE(result.totals.attempts_sent, result.totals.requests * attempts);
        }
    }
}

TEST(storm, retries_of_the_standard_strategy_are_paid_from_buckets_and_successes) {
    for (const char* name : {"outage", "metastable"}) {
        const storm_options options = scenario_options(name);
        const storm_result result = run_storm(options, policy::standard);
        const storm_totals& t = result.totals;
        const double units = options.clients * options.standard.bucket.capacity +
                             static_cast<double>(t.succeeded) * options.standard.prices.refund;
        const double paid = static_cast<double>(t.attempts_sent - t.requests);
        EXPECT_LE(paid * options.standard.prices.retry, units);
        EXPECT_GT(paid, 0.0);
    }
}

TEST(storm, bucket_share_stays_between_empty_and_full_and_starts_full) {
    const storm_result result = run_storm(scenario_options("metastable"), policy::standard);
    for (const slot& s : result.slots) {
        ASSERT_GE(s.bucket_share, 0.0);
        ASSERT_LE(s.bucket_share, 1.0);
    }
    EXPECT_GT(result.slots.front().bucket_share, 0.9);
}

TEST(storm, stalled_server_answers_nothing_during_the_outage) {
    const storm_result result = run_storm(scenario_options("metastable"), policy::no_retries);
    for (std::size_t i = 101; i < 200; ++i) {
        ASSERT_EQ(result.slots[i].useful + result.slots[i].wasted, 0U);
    }
    EXPECT_GT(result.totals.wasted, 0U);
}

TEST(storm, work_for_clients_that_have_given_up_is_done_and_counted_as_wasted) {
    storm_options options = textbook_queue(100.0);
    options.length = 60s;
    options.service_time = service_time::fixed;
    options.attempt_timeout = 500us;  // Shorter than the work itself.
    const storm_result result = run_storm(options, policy::no_retries);
    EXPECT_EQ(result.totals.succeeded, 0U);
    EXPECT_EQ(result.totals.wasted, result.totals.work_done);
    EXPECT_GT(result.totals.wasted, 5000U);
    EXPECT_DOUBLE_EQ(result.wasted_share(), 1.0);
}

TEST(storm, rejects_invalid_options) {
    storm_options options;
    options.clients = 0;
    EXPECT_THROW(static_cast<void>(run_storm(options, policy::naive)), invalid_settings);
    EXPECT_THROW(static_cast<void>(compare_policies(options)), invalid_settings);
}

TEST(storm, hedges_cut_the_slowest_answers_and_the_budget_limits_them) {
    const storm_options options = storm_test::scenario_options("hedging");
    const comparison compared = compare_policies(options);
    const auto& [none, naive, standard] = compared.results;
    for (const storm_result& each : compared.results) {
        storm_test::expect_that_all_is_accounted_for(each);
    }
    EXPECT_EQ(none.totals.hedges, 0U);
    EXPECT_EQ(naive.totals.hedges, 0U);
    EXPECT_GE(none.totals.latency_p99, options.slow_delay);
    EXPECT_LT(standard.totals.latency_p99, options.slow_delay / 2);
    // Healthy: 2 % of the answers are slow, and each of them is hedged.
    EXPECT_GT(standard.totals.hedges, standard.totals.requests / 100);
    // In the outage every attempt is slow; without the budget each would be hedged.
    EXPECT_LT(standard.amplification(), 1.2);
    EXPECT_LT(standard.worst_amplification, naive.worst_amplification);
    EXPECT_EQ(standard.recovery.outcome, recovery_outcome::recovered);
}

TEST(storm, an_empty_budget_pays_for_no_hedge) {
    storm_options options = storm_test::scenario_options("hedging");
    options.standard.bucket.initial = 0.0;
    options.standard.prices.refund = 0.0;
    const storm_result result = run_storm(options, policy::standard);
    EXPECT_EQ(result.totals.hedges, 0U);
}

}  // namespace reprise::lab
