#include "topology/bucket_table.hpp"

#include <gtest/gtest.h>

#include "engine_parts.hpp"

namespace reprise::engine::testing {

TEST(bucket_table, gives_each_name_one_bucket_and_one_keyspace) {
    engine_parts parts;
    bucket_table& buckets = parts.nodes.buckets();
    const keyspace_id plain = buckets.keyspace("travel", "", "");
    const keyspace_id named = buckets.keyspace("travel", "inventory", "hotels");
    EXPECT_EQ(buckets.keyspace("travel", "_default", "_default").value, plain.value);
    const collection_entry& usual = *buckets[plain].entry;
    EXPECT_TRUE(usual.is_default);
    EXPECT_EQ(usual.state, collection_state::known) << "its id is not asked for";
    EXPECT_EQ(usual.id, wire::default_collection);
    EXPECT_FALSE(buckets[named].entry->is_default);
    EXPECT_EQ(buckets[named].entry->state, collection_state::unknown);
    EXPECT_EQ(buckets[named].entry->path, "inventory.hotels");
    EXPECT_EQ(buckets[named].bucket, buckets[plain].bucket);
    EXPECT_EQ(buckets.find("other"), nullptr);
    EXPECT_TRUE(buckets.contains(named));
    EXPECT_FALSE(buckets.contains(keyspace_id{named.value + 1})) << "no caller has this number";
}

// Operations that end run code of the user, which may name new buckets.
class growing_bucket_table : public ::testing::Test {
protected:
    growing_bucket_table() {
        parts.listener.on_next = [this] {
            for (int index = 0; index < 16; ++index) {
                static_cast<void>(buckets.at("new" + std::to_string(index)));
            }
        };
    }
    engine_parts parts;
    bucket_table& buckets = parts.nodes.buckets();
};

TEST_F(growing_bucket_table, is_visited_to_its_end_when_a_terminal_state_is_announced) {
    for (const char* const name : {"a", "b", "c"}) {
        buckets.at(name).is_auth_refused = true;
    }
    parts.nodes.terminal().notify(nullptr, parts.now);
    EXPECT_EQ(
        parts.listener.events,
        (std::vector<std::string>{"terminal a", "terminal b", "terminal c", "terminal services"}));
    EXPECT_NE(buckets.find("new15"), nullptr);
}

TEST_F(growing_bucket_table, is_visited_to_its_end_when_a_breaker_closes) {
    for (const char* const name : {"a", "b", "c"}) {
        parts.nodes.open(buckets.at(name), parts.now);
        parts.open_link(buckets.at(name), "node1");
    }
    parts.nodes.on_breaker_closed(*parts.endpoints.find("node1:11210"), parts.now);
    EXPECT_EQ(
        parts.listener.events,
        (std::vector<std::string>{"wake", "wake", "wake", "breaker closed"}));
}

TEST(bucket_table, shares_the_terminal_state_of_a_bucket_with_the_clients_other_loops) {
    engine_parts parts;
    parts.nodes.buckets().at("travel").terminal->is_access_denied = true;
    EXPECT_TRUE(parts.context.client.terminal.of_bucket("travel")->is_access_denied);
}

TEST(bucket_table, offers_the_services_of_any_configuration_to_a_bucket_closed_to_key_value) {
    engine_parts parts;
    const scripted_cluster cluster(1);
    bucket_table& buckets = parts.nodes.buckets();
    bucket_state& bucket = buckets.at("travel");
    parts.nodes.open(bucket, parts.now);
    EXPECT_EQ(buckets.services_of("travel"), nullptr);
    EXPECT_EQ(
        parts.nodes.apply(bucket, cluster.configuration_text(0), "node1", parts.now),
        configuration_effect::applied);
    EXPECT_EQ(buckets.services_of("travel"), bucket.configuration.get());
    EXPECT_EQ(buckets.services_of("other"), nullptr);
    buckets.at("other").terminal->is_access_denied = true;
    EXPECT_EQ(buckets.services_of("other"), bucket.configuration.get());
}

}  // namespace reprise::engine::testing
