#include "http_operations/http_nodes.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "engine_parts.hpp"

namespace reprise::engine::testing::http_nodes_tests {

engine_options with_default_network() {
    engine_options options;
    options.network = "default";
    return options;
}

// Two nodes that offer queries.
struct two_nodes {
    explicit two_nodes(std::uint64_t random_seed = 7) : parts(with_default_network(), random_seed) {
        slot.request.service = wire::service::query;
    }

    engine_parts parts;
    http_pools pools{parts.context, parts.nodes};
    http_nodes candidates{parts.context, parts.nodes, pools};
    http_slot slot;
    wire::cluster_configuration_ptr known = *wire::parse_cluster_configuration(
        R"({"rev":1,"nodesExt":[
            {"hostname":"node1","services":{"kv":11210,"n1ql":8093}},
            {"hostname":"node2","services":{"kv":11210,"n1ql":8093}}]})");

    http_pool& choose() { return *candidates.choose(slot, *known); }
};

TEST(http_nodes, operations_look_at_another_node_first_each_time) {
    two_nodes of;
    http_pool& first = of.choose();
    http_pool& second = of.choose();
    EXPECT_NE(&first, &second);
    EXPECT_EQ(&of.choose(), &first);
}

TEST(http_nodes, new_clients_start_with_different_nodes) {
    std::map<std::string, int> first_choices;
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        ++first_choices[two_nodes(seed).choose().endpoint->host];
    }
    EXPECT_EQ(first_choices.size(), 2U);
    for (const auto& [host, count] : first_choices) {
        EXPECT_GE(count, 8) << host;
    }
    EXPECT_EQ(two_nodes(3).choose().endpoint->host, two_nodes(3).choose().endpoint->host);
}

TEST(http_nodes, a_node_that_works_comes_before_one_that_failed) {
    two_nodes of;
    http_pool& failed = of.choose();
    failed.failed_last = of.parts.now;
    for (int step = 0; step < 4; ++step) {
        EXPECT_NE(&of.choose(), &failed);
    }
}

TEST(http_nodes, an_attempt_goes_elsewhere_than_where_the_last_one_failed) {
    two_nodes of;
    http_pool& before = of.choose();
    of.slot.avoided = static_cast<std::int32_t>(before.endpoint->number);
    for (int step = 0; step < 4; ++step) {
        EXPECT_NE(&of.choose(), &before);
    }
}

TEST(http_nodes, without_a_node_for_the_service_there_is_none) {
    two_nodes of;
    of.slot.request.service = wire::service::search;
    EXPECT_EQ(of.candidates.choose(of.slot, *of.known), nullptr);
}

TEST(http_nodes, without_a_configuration_nothing_can_be_said_against_a_node) {
    two_nodes of;
    EXPECT_EQ(of.candidates.configuration_for(of.slot), nullptr);
    EXPECT_FALSE(of.candidates.has_node_left(of.slot));
    EXPECT_FALSE(of.candidates.terminal_reason_for(of.slot));
    EXPECT_TRUE(of.candidates.would_pass(of.slot));
}

}  // namespace reprise::engine::testing::http_nodes_tests
