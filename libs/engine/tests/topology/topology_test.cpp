#include "topology/topology.hpp"

#include <gtest/gtest.h>

#include "engine_parts.hpp"
#include "topology/terminal_state.hpp"

// The topology alone, without connections and without waiting operations.

namespace reprise::engine::testing::topology_part_tests {

using events = std::vector<std::string>;

struct with_cluster {
    explicit with_cluster(std::size_t node_count, const engine_options& options = {})
        : cluster(node_count), parts(options) {
        parts.nodes.open(bucket, parts.now);
    }
    scripted_cluster cluster;
    engine_parts parts;
    bucket_state& bucket = parts.nodes.buckets().at("travel");

    configuration_effect apply() {
        return parts.nodes.apply(bucket, cluster.configuration_text(0), "node1", parts.now);
    }
};

TEST(
    topology_part,
    RH_08_services_raise_a_refused_login_of_one_bucket_before_failed_tls_of_another) {
    engine_parts parts;
    const keyspace_id first = parts.nodes.buckets().keyspace("travel", "", "");
    const keyspace_id second = parts.nodes.buckets().keyspace("beer", "", "");
    parts.nodes.buckets()[first].bucket->is_tls_failed = true;
    EXPECT_EQ(parts.nodes.terminal().reason_of_services(), retry_reason::tls_error);
    parts.nodes.buckets()[second].bucket->is_auth_refused = true;
    EXPECT_EQ(parts.nodes.terminal().reason_of_services(), retry_reason::authentication_error);
}

TEST(topology_part, connects_to_all_seeds_when_a_bucket_is_opened) {
    engine_options options;
    options.seeds = {{"a", 1}, {"b", std::nullopt}};
    engine_parts parts(options);
    bucket_state& bucket = parts.nodes.buckets().at("travel");
    parts.nodes.open(bucket, parts.now);
    parts.nodes.open(bucket, parts.now);  // already open: no effect
    EXPECT_EQ(parts.starter.begun, (events{"a:1", "b:11210"}));
}

TEST(topology_part, asks_the_name_service_first_if_the_options_require_it) {
    engine_options options;
    options.dns_srv_name = "_couchbase._tcp.example";
    engine_parts parts(options);
    bucket_state& bucket = parts.nodes.buckets().at("travel");
    parts.nodes.open(bucket, parts.now);
    ASSERT_EQ(parts.context.actions.size(), 1U);
    EXPECT_TRUE(parts.starter.begun.empty());
    const wire::bootstrap_address found{"found.example", 11210};
    parts.nodes.on_resolved(resolution_id{1}, {&found, 1}, parts.now);
    EXPECT_EQ(parts.starter.begun, (events{"found.example:11210"}));
    const wire::bootstrap_address late{"late.example", 11210};
    parts.nodes.on_resolved(resolution_id{1}, {&late, 1}, parts.now);
    EXPECT_EQ(parts.starter.begun, (events{"found.example:11210"})) << "the first answer counts";
}

TEST(topology_part, links_the_nodes_of_a_configuration_and_retires_the_others) {
    with_cluster of(2);
    EXPECT_EQ(of.apply(), configuration_effect::applied);
    EXPECT_EQ(of.parts.starter.begun, (events{"node1:11210", "node2:11210"}));
    EXPECT_EQ(of.bucket.routes.size(), 2U);
    EXPECT_EQ(of.parts.listener.take(), (events{"configuration of travel"}));
    of.cluster.nodes.erase(of.cluster.nodes.begin());
    of.cluster.map = {{0}, {0}, {0}, {0}};
    ++of.cluster.revision.rev;
    EXPECT_EQ(of.apply(), configuration_effect::applied);
    EXPECT_EQ(of.parts.listener.take(), (events{"retired node1:11210", "configuration of travel"}));
}

// Otherwise its timer would run on, for a canary that cannot be sent.
TEST(topology_part, closes_the_breaker_of_a_node_that_leaves) {
    engine_options options;
    options.circuit_breaker.emplace();
    options.circuit_breaker->volume_threshold = 1;
    with_cluster of(2, options);
    EXPECT_EQ(of.apply(), configuration_effect::applied);
    endpoint_record& leaving = of.parts.endpoints.at("node1", 11210);
    of.parts.breakers_of_nodes.on_outcome(leaving, errc::unambiguous_timeout, of.parts.now);
    EXPECT_TRUE(leaving.is_armed());
    of.cluster.nodes.erase(of.cluster.nodes.begin());
    of.cluster.map = {{0}, {0}, {0}, {0}};
    ++of.cluster.revision.rev;
    EXPECT_EQ(of.apply(), configuration_effect::applied);
    EXPECT_FALSE(leaving.is_armed());
    EXPECT_TRUE(breakers::allow(leaving));
}

TEST(topology_part, refuses_a_configuration_that_is_not_newer_or_cannot_be_decoded) {
    with_cluster of(1);
    EXPECT_EQ(of.apply(), configuration_effect::applied);
    EXPECT_EQ(of.apply(), configuration_effect::refused);
    EXPECT_EQ(
        of.parts.nodes.apply(of.bucket, "{}", "node1", of.parts.now),
        configuration_effect::unreadable);
    EXPECT_EQ(of.parts.context.counters.configurations_applied, 1U);
    EXPECT_EQ(of.parts.context.counters.configurations_refused, 2U);
}

TEST(topology_part, returns_to_the_seeds_when_every_node_has_failed) {
    with_cluster of(1);
    of.cluster.nodes[0].host = "moved";
    EXPECT_EQ(of.apply(), configuration_effect::applied);
    node_link& left = *of.bucket.links.back();
    left.connection = nullptr;
    of.parts.starter.begun.clear();
    of.parts.nodes.reconnect_later(left, true, of.parts.now);
    of.parts.nodes.on_link_failed(left, of.parts.now);
    EXPECT_TRUE(left.is_armed());
    EXPECT_TRUE(of.bucket.has_seed_links);
}

TEST(topology_part, reports_a_terminal_state_to_the_buckets_that_are_in_it) {
    with_cluster of(1);
    bucket_state& other = of.parts.nodes.buckets().at("other");
    of.bucket.links[0]->endpoint->terminal->is_auth_refused = true;
    of.parts.nodes.terminal().refresh();
    of.parts.nodes.terminal().notify(nullptr, of.parts.now);
    EXPECT_EQ(of.parts.listener.take(), (events{"terminal travel", "terminal services"}));
    EXPECT_FALSE(terminal_reason(other));
    EXPECT_EQ(of.parts.nodes.terminal().reason_of_services(), retry_reason::authentication_error);
}

TEST(topology_part, finds_open_connections_in_rotation) {
    with_cluster of(2);
    EXPECT_EQ(of.apply(), configuration_effect::applied);
    std::size_t next = 0;
    EXPECT_EQ(of.parts.nodes.any_open(of.bucket, next), nullptr);
    kv_connection& first = of.parts.open_link(of.bucket, "node1");
    kv_connection& second = of.parts.open_link(of.bucket, "node2");
    next = 0;
    EXPECT_EQ(of.parts.nodes.any_open(of.bucket, next), &first);
    EXPECT_EQ(of.parts.nodes.any_open(of.bucket, next), &second);
    EXPECT_EQ(of.parts.nodes.any_open(of.bucket, next), &first);
}

}  // namespace reprise::engine::testing::topology_part_tests
