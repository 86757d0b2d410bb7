#include <string>

#include <gtest/gtest.h>

#include "engine_driver.hpp"
#include "engine_parts.hpp"

// Goal: however many configurations servers push, a turn of the loop applies at most one of them,
// after everything that is due.

namespace reprise::engine::testing::pushed_configuration_tests {

// One open bucket with the configuration 1:10 of two nodes.
struct with_pushes {
    with_pushes() {
        parts.nodes.open(bucket, parts.now);
        parts.nodes.apply(bucket, cluster.configuration_text(0), "node1", parts.now);
    }
    // A push of this revision, which announces `announced`.
    void push(std::uint64_t revision, std::uint64_t announced) {
        cluster.revision.rev = revision;
        const std::string text = cluster.configuration_text(0);
        wire::cluster_map_change_notification pushed;
        pushed.epoch = cluster.revision.epoch;
        pushed.rev = announced;
        pushed.bucket = "travel";
        pushed.config = base::as_bytes(text);
        pushed.datatype = wire::datatype::json;
        parts.nodes.take_push(bucket, pushed, "node1", parts.now);
    }
    void push(std::uint64_t revision) { push(revision, revision); }
    std::uint64_t revision() const { return bucket.configuration->revision().rev; }

    scripted_cluster cluster{2};
    engine_parts parts;
    bucket_state& bucket = parts.nodes.buckets().at("travel");
};

TEST(pushed_configurations, wait_for_their_turn) {
    with_pushes of;
    of.push(11);
    EXPECT_EQ(of.revision(), 10U);
    ASSERT_TRUE(of.bucket.pushed.is_armed());
    EXPECT_EQ(of.bucket.pushed.due(), of.parts.now);
    of.parts.context.wheel.disarm(of.bucket.pushed);
    of.parts.nodes.apply_push(of.bucket.pushed, of.parts.now);
    EXPECT_EQ(of.revision(), 11U);
    EXPECT_TRUE(of.bucket.pushed.bytes.empty());
}

// Servers without epochs announce none, which is older than any.
TEST(pushed_configurations, without_an_epoch_are_older_than_a_configuration_that_has_one) {
    with_pushes of;
    wire::cluster_map_change_notification pushed;
    pushed.rev = 11;
    pushed.bucket = "travel";
    of.parts.nodes.take_push(of.bucket, pushed, "node1", of.parts.now);
    EXPECT_FALSE(of.bucket.pushed.is_armed());
    EXPECT_EQ(of.parts.context.counters.configurations_refused, 1U);
}

TEST(pushed_configurations, are_skipped_if_a_newer_one_arrives_first) {
    with_pushes of;
    for (std::uint64_t revision = 11; revision <= 50; ++revision) {
        of.push(revision);
    }
    of.push(20);  // late
    of.parts.context.wheel.disarm(of.bucket.pushed);
    of.parts.nodes.apply_push(of.bucket.pushed, of.parts.now);
    EXPECT_EQ(of.revision(), 50U);
    EXPECT_EQ(of.parts.context.counters.configurations_applied, 2U) << "the first and the last";
}

TEST(pushed_configurations, are_not_parsed_if_they_announce_nothing_new) {
    with_pushes of;
    const auto refused = of.parts.context.counters.configurations_refused;
    of.push(12, 10);
    EXPECT_FALSE(of.bucket.pushed.is_armed());
    EXPECT_EQ(of.parts.context.counters.configurations_refused, refused + 1);
}

TEST(pushed_configurations, of_several_buckets_are_applied_one_in_each_turn) {
    auto [cluster, driver] = connected_node();
    driver.engine().open("", driver.now);
    driver.settle();
    const auto parsed_count = [&] {
        const auto seen = driver.engine().statistics();
        return seen.configurations_applied + seen.configurations_refused;
    };
    const auto before = parsed_count();
    cluster.revision.rev += 5;
    const connection_id at = driver.connections_to(0).at(0);
    driver.push_configuration(at, 0, false);
    cluster.bucket = "";
    driver.push_configuration(at, 0, false);
    driver.engine().on_time(driver.now);
    EXPECT_EQ(parsed_count(), before + 1);
    driver.engine().on_time(driver.now + 2ms);
    EXPECT_EQ(parsed_count(), before + 2);
}

}  // namespace reprise::engine::testing::pushed_configuration_tests
