#include <gtest/gtest.h>

#include <array>
#include <set>
#include <string>

#include <reprise/sim/finding.hpp>
#include <reprise/sim/scenario.hpp>

namespace reprise::sim {
namespace scenario_tests {

using std::chrono::microseconds;
using std::chrono::milliseconds;

bool contains(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

}  // namespace scenario_tests

using namespace scenario_tests;

TEST(scenario, the_same_seed_and_profile_produce_the_same_scenario) {
    for (const profile& each : all_profiles()) {
        const scenario first = random_scenario(7, each);
        const scenario second = random_scenario(7, each);
        EXPECT_EQ(to_string(first, 100000), to_string(second, 100000)) << each.name;
    }
    EXPECT_NE(
        to_string(random_scenario(7, *find_profile("quick")), 1000),
        to_string(random_scenario(8, *find_profile("quick")), 1000));
}

TEST(scenario, profiles_are_found_by_name_and_scenarios_respect_their_bounds) {
    EXPECT_EQ(find_profile("no such profile"), nullptr);
    for (const profile& each : all_profiles()) {
        ASSERT_EQ(find_profile(each.name), &each);
        for (std::uint64_t seed = 1; seed <= 20; ++seed) {
            const scenario generated = random_scenario(seed, each);
            EXPECT_GE(generated.operations.size(), each.operation_count_min) << each.name;
            EXPECT_LE(generated.operations.size(), each.operation_count_max) << each.name;
            EXPECT_LE(
                generated.faults.size(), each.fault_count_max + each.service_fault_count_max +
                                             each.hostile_fault_count_max +
                                             each.field_fault_count_max)
                << each.name;
            EXPECT_LE(generated.calls.size(), each.call_count_max) << each.name;
        }
    }
}

TEST(scenario, every_random_scenario_can_be_run) {
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
        const scenario generated = random_scenario(seed, *find_profile("quick"));
        ASSERT_GE(generated.node_count, 1U);
        EXPECT_LT(generated.replica_count, generated.node_count);
        ASSERT_FALSE(generated.clients.empty());
        duration before{};
        for (const planned_operation& each : generated.operations) {
            EXPECT_LE(before, each.at);
            EXPECT_LE(each.at, generated.span);
            EXPECT_LT(each.client, generated.clients.size());
            EXPECT_LE(each.collection, 2);
            before = each.at;
        }
        for (const planned_fault& each : generated.faults) {
            EXPECT_LE(each.at + each.length, generated.span);
            EXPECT_LT(each.client, generated.clients.size());
            EXPECT_LT(each.node, generated.node_slots());
        }
        for (const planned_client& each : generated.clients) {
            EXPECT_TRUE(!each.uses_bearer || each.uses_tls) << "a token is sent over TLS only";
        }
    }
}

TEST(scenario, a_swarm_leaves_nothing_out_over_many_seeds) {
    std::set<fault_kind> faults;
    std::set<engine::operation_kind> operations;
    std::set<strategy_choice> strategies;
    std::set<int> durabilities;
    bool has_budget = false;
    bool has_breaker = false;
    for (std::uint64_t seed = 1; seed <= 400; ++seed) {
        const scenario generated = random_scenario(seed, *find_profile("swarm"));
        for (const planned_fault& each : generated.faults) {
            faults.insert(each.kind);
        }
        for (const planned_operation& each : generated.operations) {
            operations.insert(each.kind);
            durabilities.insert(each.durability);
        }
        for (const planned_client& each : generated.clients) {
            strategies.insert(each.strategy);
            has_budget = has_budget || each.budget_units > 0;
            has_breaker = has_breaker || each.breaker.has_value();
        }
    }
    // Those of lying servers need a hostile seed, and so do slow ones.
    EXPECT_EQ(
        faults.size(), fault_kind_count - (field_fault_kind_first - hostile_fault_kind_first) - 1);
    EXPECT_FALSE(faults.contains(fault_kind::slow_seeds));
    EXPECT_EQ(operations.size(), 19U);
    EXPECT_EQ(strategies.size(), strategy_choice_count);
    EXPECT_EQ(durabilities.size(), 4U);
    EXPECT_TRUE(has_budget);
    EXPECT_TRUE(has_breaker);
}

TEST(scenario, only_hostile_scenarios_have_servers_that_lie) {
    std::set<fault_kind> lies;
    for (const profile& from : all_profiles()) {
        for (std::uint64_t seed = 1; seed <= 40; ++seed) {
            const scenario generated = random_scenario(seed, from);
            const bool is_hostile = from.name == "hostile";
            EXPECT_EQ(generated.has_hostile_seed, is_hostile) << from.name;
            EXPECT_EQ(generated.is_hostile(generated.node_slots() - 1), is_hostile) << from.name;
            for (const planned_fault& each : generated.faults) {
                const auto kind = static_cast<std::size_t>(each.kind);
                if (kind >= hostile_fault_kind_first && kind < field_fault_kind_first) {
                    EXPECT_TRUE(is_hostile) << from.name;
                    lies.insert(each.kind);
                }
            }
            for (const planned_client& each : generated.clients) {
                EXPECT_TRUE(!is_hostile || (each.uses_scram && !each.uses_bearer));
            }
        }
    }
    EXPECT_EQ(lies.size(), field_fault_kind_first - hostile_fault_kind_first);
}

TEST(scenario, adding_calls_does_not_change_key_value_operations) {
    std::set<call_kind> kinds;
    std::set<row_taking> takings;
    std::set<prepared_choice> plans;
    profile without = *find_profile("services");
    without.call_percent = 0;
    without.field_fault_count_max = 0;
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
        scenario generated = random_scenario(seed, *find_profile("services"));
        ASSERT_FALSE(generated.calls.empty());
        duration before{};
        for (const planned_call& each : generated.calls) {
            EXPECT_LE(before, each.at);
            EXPECT_LE(each.at, generated.span);
            EXPECT_LT(each.client, generated.clients.size());
            EXPECT_TRUE(each.prepared == prepared_choice::plain || is_statement(each.kind));
            before = each.at;
            kinds.insert(each.kind);
            takings.insert(each.taking);
            plans.insert(each.prepared);
        }
        generated.calls.clear();
        for (planned_client& each : generated.clients) {
            each.breaker.reset();  // its canaries have more time
        }
        std::erase_if(generated.faults, [](const planned_fault& each) {
            return static_cast<std::size_t>(each.kind) >= service_fault_kind_first;
        });
        scenario other = random_scenario(seed, without);
        for (planned_client& each : other.clients) {
            each.breaker.reset();
        }
        EXPECT_EQ(to_string(generated, 1000), to_string(other, 1000)) << seed;
    }
    EXPECT_EQ(kinds.size(), call_kind_count);
    EXPECT_EQ(takings.size(), row_taking_count);
    EXPECT_EQ(plans.size(), prepared_choice_count);
}

TEST(scenario, a_profile_uses_only_faults_of_its_groups) {
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        for (const planned_fault& each : random_scenario(seed, *find_profile("network")).faults) {
            EXPECT_LE(each.kind, fault_kind::fail_tls) << to_string(each.kind);
        }
        for (const planned_fault& each : random_scenario(seed, *find_profile("servers")).faults) {
            EXPECT_GT(each.kind, fault_kind::fail_tls) << to_string(each.kind);
            EXPECT_TRUE(
                each.kind < fault_kind::stall_client ||
                static_cast<std::size_t>(each.kind) >= field_fault_kind_first)
                << to_string(each.kind);
        }
        EXPECT_TRUE(random_scenario(seed, *find_profile("calm")).faults.empty());
    }
}

TEST(scenario, all_names_are_different) {
    std::set<std::string_view> names;
    for (std::size_t index = 0; index < fault_kind_count; ++index) {
        names.insert(to_string(static_cast<fault_kind>(index)));
    }
    EXPECT_EQ(names.size(), fault_kind_count);
    EXPECT_EQ(to_string(fault_kind::corrupt_answers), "corrupt_answers");
    EXPECT_EQ(to_string(fault_kind::hide_service), "hide_service");
    EXPECT_EQ(to_string(fault_kind::close_client), "close_client");
    EXPECT_EQ(to_string(fault_kind::hide_calls), "hide_calls");
    EXPECT_EQ(to_string(call_kind::put_user), "put_user");
    EXPECT_EQ(to_string(static_cast<fault_kind>(200)), "unknown");
    names.clear();
    for (std::size_t index = 0; index < strategy_choice_count; ++index) {
        names.insert(to_string(static_cast<strategy_choice>(index)));
    }
    EXPECT_EQ(names.size(), strategy_choice_count);
    names.clear();
    for (std::size_t index = 0; index < checker_count; ++index) {
        names.insert(to_string(static_cast<checker>(index)));
    }
    EXPECT_EQ(names.size(), checker_count);
    EXPECT_EQ(to_string(checker::progress), "progress");
}

TEST(scenario, its_text_describes_cluster_clients_faults_and_operations) {
    scenario plan;
    plan.seed = 12;
    plan.profile = "by hand";
    plan.node_count = 2;
    plan.span = milliseconds{250};
    plan.clients.emplace_back();
    plan.clients[0].kv_timeout = microseconds{1500};
    plan.clients[0].pipeline_credit = 8;
    plan.faults.push_back({fault_kind::freeze_node, milliseconds{1}, milliseconds{20}, 1, 0, 99});
    planned_operation operation;
    operation.at = microseconds{1204};
    operation.kind = engine::operation_kind::upsert;
    operation.key = 4;
    operation.collection = 2;
    operation.durability = 1;
    plan.operations.push_back(operation);

    const std::string text = to_string(plan);
    EXPECT_TRUE(contains(text, "seed 12, profile by hand, 250 ms\n"));
    EXPECT_TRUE(contains(text, "cluster: 2 nodes, 0 replicas, 16 vbuckets\n"));
    EXPECT_TRUE(contains(text, "timeouts 1.5 ms"));
    EXPECT_TRUE(contains(text, ", credit 8, certificate"));
    EXPECT_TRUE(
        contains(text, "fault: +1 ms freeze_node for 20 ms, node 1, client 0, detail 99\n"));
    EXPECT_TRUE(contains(text, "operation 0: +1.204 ms client 0 upsert key 4 in c2, majority\n"));
    EXPECT_TRUE(contains(to_string(plan, 0), "1 operation: upsert 1\n"));
    EXPECT_FALSE(contains(text, "HTTP"));

    planned_call call;
    call.at = milliseconds{3};
    call.row_count = 40;
    call.prepared = prepared_choice::enhanced;
    call.taking = row_taking::later;
    call.take_after = microseconds{20};
    plan.calls.push_back(call);
    const std::string with_call = to_string(plan);
    EXPECT_TRUE(contains(with_call, " / HTTP 2 s, at most 12 connections to a service"));
    EXPECT_TRUE(contains(
        with_call,
        "operation 1: +3 ms client 0 select_range of 40 rows, prepared, takes rows later (20 us)"));
    EXPECT_TRUE(contains(to_string(plan, 1), "1 call: select_range 1\n"));
}

TEST(finding, its_text_begins_with_the_time_and_the_checker) {
    finding found{checker::ledger, microseconds{1204}, 17, "reported as applied"};
    EXPECT_EQ(to_string(found), "+1.204 ms ledger, operation 17: reported as applied");
    found = {checker::leak, std::chrono::seconds{3}, std::nullopt, "two connections"};
    EXPECT_EQ(to_string(found), "+3 s leak: two connections");
}

}  // namespace reprise::sim
