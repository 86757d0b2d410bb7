// Clients with several loops (RH-50): the checkers are those of clients with one.

#include <gtest/gtest.h>

#include <set>
#include <string>

#include <reprise/sim/simulation.hpp>

namespace reprise::sim::several_loops_simulation_test {

scenario with_loops(std::uint64_t seed, const char* from, std::size_t loop_count) {
    scenario plan = random_scenario(seed, *find_profile(from));
    for (planned_client& each : plan.clients) {
        each.loop_count = loop_count;
    }
    return plan;
}

TEST(several_loops_simulation, RH_50_every_promise_holds) {
    for (const char* from : {"swarm", "servers", "client", "hostile", "services"}) {
        for (std::uint64_t seed = 1; seed <= 20; ++seed) {
            const run_report report = run_scenario(with_loops(seed, from, 2 + seed % 2));
            EXPECT_TRUE(report.is_clean())
                << from << " " << seed << ": " << to_string(report.findings.front());
        }
    }
}

TEST(several_loops_simulation, RH_50_two_runs_of_a_seed_are_equal) {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        const scenario plan = with_loops(seed, "quick", 3);
        EXPECT_EQ(run_scenario(plan).fingerprint, run_scenario(plan).fingerprint) << seed;
    }
}

TEST(several_loops_simulation, each_loop_has_its_own_connections) {
    const run_report one = run_scenario(with_loops(1, "calm", 1));
    const run_report three = run_scenario(with_loops(1, "calm", 3));
    EXPECT_EQ(one.operations, three.operations);
    EXPECT_GE(three.connections, 2 * one.connections);
}

TEST(several_loops_simulation, some_clients_have_several_loops_unless_nothing_fails) {
    std::set<std::size_t> counts;
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        for (const planned_client& each : random_scenario(seed, *find_profile("swarm")).clients) {
            counts.insert(each.loop_count);
        }
        for (const planned_client& each : random_scenario(seed, *find_profile("bench")).clients) {
            EXPECT_EQ(each.loop_count, 1U);
        }
    }
    EXPECT_EQ(counts, (std::set<std::size_t>{1, 2, 3}));
}

}  // namespace reprise::sim::several_loops_simulation_test
