#include <gtest/gtest.h>

#include <algorithm>

#include <reprise/sim/shrink.hpp>

namespace reprise::sim {
namespace shrink_tests {

using std::chrono::milliseconds;
using std::chrono::seconds;

// No promise can be kept here: answers take longer than any timeout. Therefore the final round, in
// which everything must work again, fails.
scenario hopeless_scenario(std::uint64_t seed) {
    scenario plan = random_scenario(seed, *find_profile("quick"));
    plan.network.latency = seconds{1};
    for (planned_client& each : plan.clients) {
        each.kv_timeout = milliseconds{50};
    }
    return plan;
}

}  // namespace shrink_tests

using namespace shrink_tests;

TEST(shrink, everything_unrelated_to_the_failure_is_left_out) {
    const scenario plan = hopeless_scenario(11);
    ASSERT_FALSE(plan.operations.empty());
    const run_report before = run_scenario(plan);
    ASSERT_FALSE(before.is_clean());

    const shrunk_scenario shrunk = shrink(plan);
    EXPECT_TRUE(shrunk.plan.faults.empty());
    EXPECT_TRUE(shrunk.plan.operations.empty());
    EXPECT_EQ(shrunk.plan.clients.size(), 1U);
    EXPECT_GT(shrunk.run_count, 1U);
    EXPECT_TRUE(std::ranges::any_of(shrunk.report.findings, [&](const finding& each) {
        return each.what == before.findings.front().what;
    }));
}

TEST(shrink, the_shrunk_scenario_fails_on_its_own) {
    const shrunk_scenario shrunk = shrink(hopeless_scenario(12));
    const run_report again = run_scenario(shrunk.plan);
    ASSERT_FALSE(again.is_clean());
    EXPECT_EQ(again.fingerprint, shrunk.report.fingerprint);
    EXPECT_EQ(to_string(again.findings.front()), to_string(shrunk.report.findings.front()));
}

TEST(shrink, a_scenario_without_findings_is_returned_unchanged) {
    const scenario plan = random_scenario(1, *find_profile("calm"));
    const shrunk_scenario shrunk = shrink(plan);
    EXPECT_EQ(shrunk.run_count, 1U);
    EXPECT_TRUE(shrunk.report.is_clean());
    EXPECT_EQ(to_string(shrunk.plan, 10000), to_string(plan, 10000));
}

TEST(shrink, takes_no_more_runs_than_allowed) {
    EXPECT_LE(shrink(hopeless_scenario(13), 5).run_count, 5U);
    const auto at_once = [] { return true; };
    EXPECT_EQ(shrink(hopeless_scenario(13), shrink_run_count_max, at_once).run_count, 1U);
}

}  // namespace reprise::sim
