#include "topology/route.hpp"

#include <gtest/gtest.h>

namespace reprise::engine::route_tests {

// A configuration of one vbucket. A `forward` of -2 means no forward map.
wire::cluster_configuration configuration(
    std::uint64_t rev, std::int16_t active, std::int16_t forward) {
    wire::cluster_configuration::facts facts;
    facts.revision = {1, rev};
    facts.bucket_name = "b";
    facts.nodes.resize(4);
    facts.kv_node_count = 4;
    wire::cluster_configuration::flat_map current{{active, 3}, 2};
    wire::cluster_configuration::flat_map next;
    if (forward != -2) {
        next = {{forward, 3}, 2};
    }
    return {std::move(facts), std::move(current), std::move(next)};
}

TEST(route, VB_02_the_current_map_comes_first_then_the_forward_map_without_delay) {
    const auto known = configuration(5, 0, 1);
    route_state state;
    EXPECT_EQ(choose_node(known, 0, 0, state), 0);
    EXPECT_EQ(on_not_my_vbucket(known, 0, 0, state), route_step::at_once);
    EXPECT_EQ(choose_node(known, 0, 0, state), 1);
}

TEST(route, VB_02_without_a_forward_map_the_current_one_is_used_again_after_the_wait) {
    const auto known = configuration(5, 0, -2);
    route_state state;
    EXPECT_EQ(choose_node(known, 0, 0, state), 0);
    EXPECT_EQ(on_not_my_vbucket(known, 0, 0, state), route_step::wait);
    EXPECT_EQ(choose_node(known, 0, 0, state), 0);
}

TEST(route, VB_03_VB_04_the_forward_map_stays_in_use_until_a_new_revision_arrives) {
    const auto known = configuration(5, 0, 1);
    route_state state;
    static_cast<void>(choose_node(known, 0, 0, state));
    static_cast<void>(on_not_my_vbucket(known, 0, 0, state));
    EXPECT_EQ(choose_node(known, 0, 0, state), 1);
    EXPECT_EQ(on_not_my_vbucket(known, 0, 0, state), route_step::wait);
    EXPECT_EQ(choose_node(known, 0, 0, state), 1);
    EXPECT_EQ(on_not_my_vbucket(known, 0, 0, state), route_step::wait);
    const auto newer = configuration(6, 2, 1);
    EXPECT_EQ(choose_node(newer, 0, 0, state), 2);
    EXPECT_EQ(on_not_my_vbucket(newer, 0, 0, state), route_step::at_once);
    EXPECT_EQ(choose_node(newer, 0, 0, state), 1);
}

TEST(route, VB_07_a_newer_configuration_in_the_answer_is_tried_at_once) {
    const auto known = configuration(5, 0, -2);
    route_state state;
    static_cast<void>(choose_node(known, 0, 0, state));
    const auto newer = configuration(6, 3, -2);
    EXPECT_EQ(on_not_my_vbucket(newer, 0, 0, state), route_step::newer_map);
    EXPECT_EQ(choose_node(newer, 0, 0, state), 3);
}

TEST(route, VB_10_a_forward_entry_of_minus_one_or_of_the_refusing_node_counts_as_none) {
    route_state state;
    const auto nobody = configuration(5, 0, -1);
    static_cast<void>(choose_node(nobody, 0, 0, state));
    EXPECT_EQ(on_not_my_vbucket(nobody, 0, 0, state), route_step::wait);
    const auto same = configuration(6, 0, 0);
    static_cast<void>(choose_node(same, 0, 0, state));
    EXPECT_EQ(on_not_my_vbucket(same, 0, 0, state), route_step::wait);
    EXPECT_EQ(choose_node(same, 0, 0, state), 0);
}

TEST(route, VB_08_an_entry_of_minus_one_gives_no_node) {
    route_state state;
    EXPECT_EQ(choose_node(configuration(5, -1, -2), 0, 0, state), std::nullopt);
}

TEST(route, replicas_are_found_in_the_current_map_and_never_forwarded) {
    const auto known = configuration(5, 0, 1);
    route_state state;
    EXPECT_EQ(choose_node(known, 0, 1, state), 3);
    EXPECT_EQ(on_not_my_vbucket(known, 0, 1, state), route_step::wait);
    EXPECT_EQ(choose_node(known, 0, 2, state), std::nullopt);
}

}  // namespace reprise::engine::route_tests
