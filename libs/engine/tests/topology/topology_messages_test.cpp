#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <reprise/wire/compression.hpp>

#include "engine_parts.hpp"
#include "topology/configuration_polls.hpp"
#include "topology/terminal_state.hpp"

// Tests the parts of configurations that the topology logs and keeps, and the cluster's own links.

namespace reprise::engine::testing::topology_messages_tests {

using lines = std::vector<std::pair<log_level, std::string>>;

struct message_log final : log_sink {
    lines all;
    void on_decision(log_level, const decision_record&) noexcept override {}
    void on_message(log_level level, std::string_view text) noexcept override {
        all.emplace_back(level, text);
    }
};

struct logged_topology {
    explicit logged_topology(
        std::size_t node_count, std::string_view bucket_name = "travel",
        std::vector<wire::bootstrap_address> seeds = {})
        : cluster(node_count),
          parts(with_log(std::move(seeds))),
          bucket(parts.nodes.buckets().at(bucket_name)) {
        cluster.bucket = bucket_name;
        if (bucket_name.empty()) {
            cluster.map.clear();
        }
        parts.nodes.open(bucket, parts.now);
    }
    engine_options with_log(std::vector<wire::bootstrap_address> seeds) {
        engine_options options;
        options.log = log;
        options.seeds = std::move(seeds);
        return options;
    }
    configuration_effect apply(std::string_view text) {
        return parts.nodes.apply(bucket, text, "node1", parts.now);
    }
    configuration_effect apply() { return apply(cluster.configuration_text(0)); }
    std::vector<std::string> live_links() const {
        std::vector<std::string> hosts;
        for (const auto& link : bucket.links) {
            if (!link->is_retired) {
                hosts.push_back(link->endpoint->host);
            }
        }
        return hosts;
    }

    std::shared_ptr<message_log> log = std::make_shared<message_log>();
    scripted_cluster cluster;
    engine_parts parts;
    bucket_state& bucket;
};

// The cluster's own configuration with these data nodes, and one node without data.
std::string cluster_text(const std::vector<std::string>& data_nodes, std::uint64_t revision = 20) {
    wire::cluster_configuration_description configuration;
    configuration.revision = {1, revision};
    for (const std::string& host : data_nodes) {
        wire::cluster_node node;
        node.hostname = host;
        node.ports.set(wire::service::key_value, wire::transport::plain, 11210);
        node.ports.set(wire::service::key_value, wire::transport::tls, 11207);
        configuration.nodes.push_back(std::move(node));
    }
    wire::cluster_node query;
    query.hostname = "query";
    query.ports.set(wire::service::query, wire::transport::plain, 8093);
    configuration.nodes.push_back(std::move(query));
    return wire::encode_cluster_configuration(configuration);
}

TEST(topology_messages, each_configuration_that_is_applied_is_logged) {
    logged_topology of(1);
    ASSERT_EQ(of.apply(), configuration_effect::applied);
    ASSERT_EQ(of.log->all.size(), 1U);
    EXPECT_EQ(
        of.log->all[0], std::pair(log_level::info, std::string("configuration 1:10 of travel")));
    logged_topology global(1, "");
    ASSERT_EQ(global.apply(cluster_text({"node1"})), configuration_effect::applied);
    EXPECT_EQ(
        global.log->all.back(),
        std::pair(log_level::info, std::string("configuration 1:20 of the cluster")));
}

TEST(topology_messages, each_configuration_that_is_refused_is_logged_and_kept) {
    logged_topology of(1);
    EXPECT_EQ(of.apply("{}"), configuration_effect::unreadable);
    ASSERT_EQ(of.log->all.size(), 1U);
    EXPECT_EQ(of.log->all[0].first, log_level::warn);
    EXPECT_TRUE(of.log->all[0].second.starts_with("node1: configuration refused: "));
    EXPECT_EQ(of.bucket.configuration_problem, of.log->all[0].second);
    of.cluster.bucket = "beer";
    EXPECT_EQ(of.apply(), configuration_effect::refused);
    const std::string foreign = "node1: configuration refused: it belongs to bucket \"beer\"";
    ASSERT_EQ(of.log->all.size(), 2U);
    EXPECT_EQ(of.log->all[1], std::pair(log_level::warn, foreign));
    EXPECT_EQ(of.bucket.configuration_problem, foreign);
    of.cluster.bucket = "travel";
    EXPECT_EQ(of.apply(), configuration_effect::applied);
    EXPECT_EQ(of.bucket.configuration_problem, "");
}

TEST(topology_messages, VB_09_a_map_without_owners_is_logged_and_refused) {
    logged_topology of(1);
    ASSERT_EQ(of.apply(), configuration_effect::applied);
    of.cluster.map.clear();
    of.cluster.revision.rev = 11;
    EXPECT_EQ(of.apply(), configuration_effect::refused);
    EXPECT_EQ(of.log->all.back().first, log_level::warn);
    EXPECT_EQ(
        of.log->all.back().second,
        "configuration 1:11 of travel names no owners; keeping the previous one");
    EXPECT_EQ(of.parts.context.counters.configurations_refused, 1U);
}

TEST(topology_messages, a_missing_srv_record_is_logged) {
    engine_options options;
    const auto log = std::make_shared<message_log>();
    options.log = log;
    options.dns_srv_name = "_couchbase._tcp.example";
    engine_parts parts(options);
    parts.nodes.open(parts.nodes.buckets().at("travel"), parts.now);
    parts.nodes.on_resolved(resolution_id{1}, {}, parts.now);
    ASSERT_EQ(log->all.size(), 1U);
    EXPECT_EQ(log->all[0].first, log_level::info);
    EXPECT_EQ(parts.starter.begun, (std::vector<std::string>{"node1:11210"}));
}

TEST(topology_messages, a_configuration_replaces_the_links_to_the_seeds) {
    logged_topology of(2);
    EXPECT_TRUE(of.bucket.has_seed_links);
    ASSERT_EQ(of.apply(), configuration_effect::applied);
    EXPECT_FALSE(of.bucket.has_seed_links);
}

// The cluster itself is asked through one connection.
TEST(topology_messages, the_cluster_keeps_the_seeds_that_are_part_of_it_and_adds_none) {
    logged_topology of(1, "", {{"node2", 11210}, {"old", 11210}});
    ASSERT_EQ(of.apply(cluster_text({"node1", "node2", "node3"})), configuration_effect::applied);
    EXPECT_EQ(of.live_links(), (std::vector<std::string>{"node2"}));
}

TEST(topology_messages, the_cluster_uses_one_of_its_nodes_if_no_seed_is_left) {
    logged_topology of(1, "", {{"old", 11210}});
    ASSERT_EQ(of.apply(cluster_text({"node1", "node2"})), configuration_effect::applied);
    const auto hosts = of.live_links();
    ASSERT_EQ(hosts.size(), 1U);
    EXPECT_TRUE(hosts[0] == "node1" || hosts[0] == "node2") << hosts[0];
}

TEST(topology_messages, the_cluster_keeps_its_seeds_if_no_node_has_data) {
    logged_topology of(1, "", {{"old", 11210}});
    ASSERT_EQ(of.apply(cluster_text({})), configuration_effect::applied);
    EXPECT_EQ(of.live_links(), (std::vector<std::string>{"old"}));
}

// A target of an SRV record left the cluster and is part of it again.
TEST(topology_messages, RH_46_a_node_that_the_cluster_names_is_verified_under_its_own_name) {
    engine_options options;
    options.dns_srv_name = "_couchbases._tcp.cluster.test";
    options.transport = wire::transport::tls;
    engine_parts parts(options);
    bucket_state& bucket = parts.nodes.buckets().at("");
    parts.nodes.open(bucket, parts.now);
    const wire::bootstrap_address found{"node1", 11207};
    parts.nodes.on_resolved(resolution_id{1}, {&found, 1}, parts.now);
    ASSERT_EQ(parts.endpoints.at("node1", 11207).srv_name, "cluster.test");
    EXPECT_EQ(
        parts.nodes.apply(bucket, cluster_text({"node2"}, 20), "node1", parts.now),
        configuration_effect::applied);
    EXPECT_EQ(
        parts.nodes.apply(bucket, cluster_text({"node1"}, 21), "node2", parts.now),
        configuration_effect::applied);
    EXPECT_EQ(parts.endpoints.at("node1", 11207).srv_name, "");
}

TEST(topology_messages, RH_48_without_a_refusal_there_is_no_verdict_about_seeds) {
    logged_topology of(1);
    of.parts.nodes.terminal().judge_silent_seeds(of.bucket, of.parts.now + 1h);
    EXPECT_FALSE(of.bucket.is_seed_refusal_final);
    of.bucket.links[0]->endpoint->terminal->is_auth_refused = true;
    of.parts.nodes.terminal().refresh();
    ASSERT_EQ(of.apply(), configuration_effect::applied);
    of.parts.nodes.terminal().judge_silent_seeds(of.bucket, of.parts.now + 1h);
    EXPECT_FALSE(of.bucket.is_seed_refusal_final) << "the cluster has answered";
}

TEST(topology_messages, a_link_that_has_a_connection_or_is_retired_does_not_connect) {
    logged_topology of(1);
    ASSERT_EQ(of.parts.starter.begun.size(), 1U);
    node_link& link = *of.bucket.links[0];
    of.parts.nodes.connect(link, of.parts.now);
    EXPECT_EQ(of.parts.starter.begun.size(), 1U);
    EXPECT_FALSE(of.parts.context.gate.is_queued(link));
    kv_connection* const connection = std::exchange(link.connection, nullptr);
    link.is_retired = true;
    of.parts.nodes.connect(link, of.parts.now);
    EXPECT_EQ(of.parts.starter.begun.size(), 1U);
    EXPECT_FALSE(of.parts.context.gate.is_queued(link));
    link.is_retired = false;
    link.connection = connection;
}

TEST(topology_messages, a_compressed_push_is_inflated) {
    logged_topology of(1);
    ASSERT_EQ(of.apply(), configuration_effect::applied);
    of.cluster.revision.rev = 11;
    const std::string text = of.cluster.configuration_text(0);
    const auto block = wire::compress(base::as_bytes(text));
    wire::cluster_map_change_notification pushed;
    pushed.epoch = 1;
    pushed.rev = 11;
    pushed.bucket = "travel";
    pushed.config = block;
    pushed.datatype = wire::datatype::json | wire::datatype::snappy;
    of.parts.nodes.take_push(of.bucket, pushed, "node1", of.parts.now);
    of.parts.context.wheel.disarm(of.bucket.pushed);
    of.parts.nodes.apply_push(of.bucket.pushed, of.parts.now);
    EXPECT_EQ(of.bucket.configuration->revision().rev, 11);
}

TEST(topology_messages, links_start_again_with_short_delays_after_new_credentials) {
    logged_topology of(1);
    node_link& link = *of.bucket.links[0];
    link.connection = nullptr;
    link.failures = 7;
    of.parts.context.wheel.arm(link, of.parts.now + 1h);
    of.parts.nodes.reconnect_with_new_identity();
    EXPECT_EQ(link.failures, 0U);
    EXPECT_LE(link.due(), of.parts.now);
}

TEST(topology_messages, RH_27_a_selected_bucket_is_no_longer_missing) {
    logged_topology of(1);
    node_link& link = *of.bucket.links[0];
    of.bucket.terminal->is_access_denied = true;
    of.bucket.is_missing_agreed = true;
    set_missing(of.bucket, true);
    of.bucket.missing_since = of.parts.now;
    link.is_bucket_missing = true;
    link.missing_answers = 2;
    clear_bucket_refusals(of.bucket);
    EXPECT_TRUE(of.bucket.terminal->was_open);
    EXPECT_FALSE(of.bucket.terminal->is_access_denied);
    EXPECT_FALSE(of.bucket.is_missing_agreed);
    EXPECT_FALSE(of.bucket.is_missing_everywhere);
    EXPECT_FALSE(of.bucket.missing_since);
    EXPECT_FALSE(link.is_bucket_missing);
    EXPECT_EQ(link.missing_answers, 0U);
}

}  // namespace reprise::engine::testing::topology_messages_tests
