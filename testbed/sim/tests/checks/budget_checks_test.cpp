// The checker of the price of retries.

#include <gtest/gtest.h>

#include <string>

#include <reprise/sim/simulation.hpp>

namespace reprise::sim::budget_checks_test {

// In this seed a connection closes while a retry that is paid for waits for its turn on it. There
// is no place left to wait in, so the retry is refused and its price returned. The checker counted
// only returns at the end of an operation whose last decision was a retry.
TEST(budget_checks, RH_33_a_paid_retry_that_finds_no_place_to_wait_returns_its_price) {
    const run_report report = run_scenario(random_scenario(770'004'617, *find_profile("swarm")));
    EXPECT_TRUE(report.is_clean()) << to_string(report.findings.front());
}

}  // namespace reprise::sim::budget_checks_test
