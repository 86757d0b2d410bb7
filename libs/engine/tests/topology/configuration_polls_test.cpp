#include "topology/configuration_polls.hpp"

#include <gtest/gtest.h>

#include "engine_parts.hpp"

namespace reprise::engine::testing::configuration_polls_tests {

struct polled_bucket {
    explicit polled_bucket(std::size_t node_count) : cluster(node_count) {
        parts.nodes.open(bucket, parts.now);
        parts.nodes.apply(bucket, cluster.configuration_text(0), "node1", parts.now);
    }
    scripted_cluster cluster;
    engine_parts parts;
    scripted_judge judge;
    configuration_polls polls{parts.context, parts.nodes, judge};
    bucket_state& bucket = parts.nodes.buckets().at("travel");
    const engine_options& options = parts.context.options;
};

TEST(configuration_polls, ask_the_nodes_in_rotation) {
    polled_bucket of(2);
    kv_connection& first = of.parts.open_link(of.bucket, "node1");
    kv_connection& second = of.parts.open_link(of.bucket, "node2");
    of.polls.poll(of.bucket, of.parts.now);
    EXPECT_TRUE(first.poll_opaque);
    EXPECT_FALSE(second.poll_opaque);
    of.polls.poll(of.bucket, of.parts.now + of.options.config_poll_interval);
    EXPECT_TRUE(second.poll_opaque);
}

TEST(configuration_polls, keep_the_floor_between_two_polls) {
    polled_bucket of(1);
    of.parts.open_link(of.bucket, "node1");
    of.polls.poll(of.bucket, of.parts.now);
    EXPECT_EQ(of.bucket.due(), of.parts.now + of.options.config_poll_interval);
    of.polls.want(of.bucket, of.parts.now);
    EXPECT_EQ(of.bucket.due(), of.parts.now + of.options.config_poll_floor);
    EXPECT_TRUE(of.bucket.is_poll_wanted);
}

TEST(configuration_polls, do_not_ask_a_node_that_has_not_answered) {
    polled_bucket of(1);
    kv_connection& only = of.parts.open_link(of.bucket, "node1");
    of.polls.poll(of.bucket, of.parts.now);
    const auto asked = only.poll_opaque;
    of.polls.poll(of.bucket, of.parts.now + of.options.config_poll_floor);
    EXPECT_EQ(only.poll_opaque, asked);
    of.polls.poll(of.bucket, of.parts.now + of.options.internal_timeout);
    EXPECT_NE(only.poll_opaque, asked) << "overdue: asked again";
}

TEST(configuration_polls, name_the_known_revision_only_where_servers_support_it) {
    for (const bool is_supported : {false, true}) {
        polled_bucket of(1);
        kv_connection& only = of.parts.open_link(of.bucket, "node1");
        only.features =
            wire::hello_feature_set{wire::hello_feature::dedupe_not_my_vbucket_clustermap};
        if (is_supported) {
            only.features =
                wire::hello_feature_set{wire::hello_feature::get_cluster_config_with_known_version};
        }
        of.polls.poll(of.bucket, of.parts.now);
        const auto scan =
            wire::scan_frame(only.control, {.direction = wire::frame_direction::to_server});
        ASSERT_TRUE(scan && scan->frame);
        EXPECT_EQ(scan->frame->extras().empty(), !is_supported);
    }
}

TEST(configuration_polls, end_with_the_client) {
    polled_bucket of(1);
    kv_connection& only = of.parts.open_link(of.bucket, "node1");
    of.parts.context.is_closed = true;
    of.polls.poll(of.bucket, of.parts.now);
    EXPECT_FALSE(only.poll_opaque);
    EXPECT_FALSE(of.bucket.is_armed());
}

TEST(configuration_polls, are_repeated_after_the_delay_of_the_judge) {
    polled_bucket of(1);
    const endpoint_record& asked = *of.bucket.links[0]->endpoint;
    of.polls.on_lost(of.bucket, asked, of.parts.now);
    EXPECT_FALSE(of.bucket.is_armed());
    of.judge.answer = 3ms;
    of.polls.on_lost(of.bucket, asked, of.parts.now);
    EXPECT_EQ(of.bucket.due(), of.parts.now + 3ms);
    EXPECT_EQ(of.bucket.poll_retries, 1U);
    EXPECT_EQ(of.judge.asked.back(), retry_reason::socket_closed_while_in_flight);
}

TEST(configuration_polls, are_more_frequent_while_no_configuration_names_owners) {
    engine_parts parts;
    scripted_judge judge;
    configuration_polls polls(parts.context, parts.nodes, judge);
    bucket_state& bucket = parts.nodes.buckets().at("travel");
    polls.on_open(bucket, parts.now);
    EXPECT_LT(bucket.due(), parts.now + parts.context.options.config_poll_interval);
    bucket_state& cluster = parts.nodes.buckets().at("");
    polls.on_open(cluster, parts.now);
    EXPECT_EQ(cluster.due(), parts.now + parts.context.options.config_poll_interval);
}

}  // namespace reprise::engine::testing::configuration_polls_tests
