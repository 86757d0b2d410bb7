#include <gtest/gtest.h>

#include "engine_driver.hpp"

// Not-my-vbucket from broken or hostile servers: retries are paced, and each node has at most one
// pending poll.

namespace reprise::engine::testing {
namespace not_my_vbucket_tests {

using wire::opcode;
using wire::status;
using answer = scripted_cluster::scripted_answer;

// Refuses every write, each time with a newer configuration than the last one.
scripted_cluster::hook ever_newer(scripted_cluster& cluster) {
    return [&cluster](const seen_request& seen) -> std::optional<answer> {
        if (seen.op != opcode::set) {
            return std::nullopt;
        }
        ++cluster.revision.rev;
        answer refusal{.status = status::not_my_vbucket};
        refusal.value = cluster.configuration_text(seen.node);
        refusal.datatype = wire::datatype::json;
        return refusal;
    };
}

}  // namespace not_my_vbucket_tests

using namespace not_my_vbucket_tests;

TEST(not_my_vbucket, VB_06_VB_07_ever_newer_revisions_in_the_answers_do_not_make_a_loop) {
    scripted_cluster cluster(2, 4);
    engine_driver driver(cluster);
    driver.connect();
    cluster.on_request = ever_newer(cluster);
    const auto stored = driver.upsert("k", "v");
    driver.advance(1s);
    // The first retry is immediate and three more skip their backoff. From then on they are 100 ms
    // apart.
    EXPECT_GE(cluster.count(opcode::set), 12U);
    EXPECT_LE(cluster.count(opcode::set), 16U);
    driver.advance(2s);
    ASSERT_EQ(stored->calls, 1);
    EXPECT_EQ(stored->result.ec, errc::unambiguous_timeout);
}

TEST(not_my_vbucket, VB_06_operations_that_bring_newer_revisions_do_not_wake_each_other_in_a_loop) {
    scripted_cluster cluster(2, 4);
    engine_driver driver(cluster);
    driver.connect();
    cluster.on_request = ever_newer(cluster);
    std::vector<engine_driver::outcome_ptr> stored;
    for (int index = 0; index < 50; ++index) {
        stored.push_back(driver.upsert("key" + std::to_string(index), "v"));
    }
    driver.advance(1s);
    EXPECT_LE(cluster.count(opcode::set), 50U * 16U);
    cluster.on_request = nullptr;
    driver.advance(100ms);
    for (const auto& one : stored) {
        ASSERT_EQ(one->calls, 1);
        EXPECT_TRUE(one->result.has_value());
    }
}

TEST(not_my_vbucket, VB_07_a_node_that_does_not_answer_a_poll_is_not_asked_again_meanwhile) {
    scripted_cluster cluster(1, 4);
    engine_driver driver(cluster);
    driver.connect();
    driver.advance(100ms);
    const std::size_t asked = cluster.count(opcode::get_cluster_config);
    cluster.on_request = [](const seen_request& seen) -> std::optional<answer> {
        if (seen.op == opcode::get_cluster_config) {
            return answer{.is_silent = true};
        }
        return seen.op == opcode::set ? std::optional(answer{.status = status::not_my_vbucket})
                                      : std::nullopt;
    };
    // Each refusal arrives without a configuration and triggers a poll. They are far enough apart.
    driver.upsert("k", "v");
    driver.advance(700ms);
    ASSERT_GE(cluster.count(opcode::set), 5U);
    EXPECT_EQ(cluster.count(opcode::get_cluster_config), asked + 1);
    // A poll without an answer is given up after the internal timeout.
    driver.upsert("k", "v");
    driver.advance(2500ms);
    EXPECT_EQ(cluster.count(opcode::get_cluster_config), asked + 2);
}

}  // namespace reprise::engine::testing
