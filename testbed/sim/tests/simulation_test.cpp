#include <gtest/gtest.h>

#include <string>

#include <reprise/sim/simulation.hpp>

namespace reprise::sim {
namespace determinism_tests {

// The whole trace of a run, in order.
std::string trace_of(const scenario& plan) {
    std::string text;
    run_options options;
    options.trace = [&text](duration at, std::string_view line) {
        text += std::to_string(at.count());
        text += " ";
        text += line;
        text += "\n";
    };
    (void)run_scenario(plan, options);
    return text;
}

}  // namespace determinism_tests

using namespace determinism_tests;

TEST(determinism, two_runs_of_a_seed_are_equal_in_every_number) {
    for (std::uint64_t seed = 1; seed <= 120; ++seed) {
        const scenario plan =
            random_scenario(seed, *find_profile(seed % 2 == 0 ? "quick" : "services"));
        const run_report first = run_scenario(plan);
        const run_report second = run_scenario(plan);
        ASSERT_EQ(first.fingerprint, second.fingerprint) << seed;
        EXPECT_EQ(first.events, second.events) << seed;
        EXPECT_EQ(first.requests, second.requests) << seed;
        EXPECT_EQ(first.retries, second.retries) << seed;
        EXPECT_EQ(first.rows, second.rows) << seed;
        EXPECT_EQ(first.virtual_time, second.virtual_time) << seed;
        EXPECT_EQ(first.cells.counts, second.cells.counts) << seed;
        EXPECT_NE(first.events, 0U) << seed;
    }
}

TEST(determinism, tracing_changes_nothing) {
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        const scenario plan =
            random_scenario(seed, *find_profile(seed % 2 == 0 ? "quick" : "services"));
        run_options options;
        std::size_t lines = 0;
        options.trace = [&lines](duration, std::string_view) { ++lines; };
        EXPECT_EQ(run_scenario(plan).fingerprint, run_scenario(plan, options).fingerprint) << seed;
        EXPECT_GT(lines, 0U);
    }
}

TEST(determinism, earlier_runs_do_not_influence_later_ones) {
    const profile& from = *find_profile("quick");
    const std::string alone = trace_of(random_scenario(3, from));
    for (std::uint64_t seed = 100; seed < 110; ++seed) {
        (void)run_scenario(random_scenario(seed, from));
    }
    EXPECT_EQ(trace_of(random_scenario(3, from)), alone);
    EXPECT_NE(trace_of(random_scenario(4, from)), alone);
}

TEST(determinism, different_scenarios_have_different_fingerprints) {
    scenario plan = random_scenario(5, *find_profile("calm"));
    const std::uint64_t before = run_scenario(plan).fingerprint;
    plan.network.latency += duration{1};
    EXPECT_NE(run_scenario(plan).fingerprint, before);
}

}  // namespace reprise::sim
