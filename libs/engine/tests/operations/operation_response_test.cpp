#include <gtest/gtest.h>

#include "engine_driver.hpp"

// Not-my-vbucket from broken or hostile servers: retries are paced, and each node has at most one
// pending poll.

namespace reprise::engine::testing {
namespace not_my_vbucket_tests {

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

// An answer to `asked`: the client has the newest configuration.
std::vector<std::byte> nothing_newer(const seen_request& asked) {
    wire::response_header header;
    header.op = asked.op;
    header.opaque = asked.opaque;
    return encoded(wire::empty_response{}, header);
}

}  // namespace not_my_vbucket_tests

using namespace not_my_vbucket_tests;

TEST(not_my_vbucket, VB_06_VB_07_ever_newer_revisions_in_the_answers_do_not_make_a_loop) {
    auto [cluster, driver] = connected_cluster(2, 4);
    cluster.on_request = ever_newer(cluster);
    const auto stored = driver.after(1s, driver.upsert("k", "v"));
    // The first retry is immediate and three more skip their backoff. From then on they are 100 ms
    // apart.
    EXPECT_GE(cluster.count(opcode::set), 12U);
    EXPECT_LE(cluster.count(opcode::set), 16U);
    driver.advance(2s);
    EXPECT_EQ(stored->code(), errc::unambiguous_timeout);
}

TEST(not_my_vbucket, VB_06_operations_that_bring_newer_revisions_do_not_wake_each_other_in_a_loop) {
    auto [cluster, driver] = connected_cluster(2, 4);
    cluster.on_request = ever_newer(cluster);
    const auto stored = driver.after(1s, driver.upsert_many(50, "key"));
    EXPECT_LE(cluster.count(opcode::set), 50U * 16U);
    cluster.on_request = nullptr;
    driver.advance(100ms);
    for (const auto& one : stored) {
        EXPECT_TRUE(one->has_succeeded());
    }
}

TEST(not_my_vbucket, VB_07_a_node_that_does_not_answer_a_poll_is_not_asked_again_meanwhile) {
    auto [cluster, driver] = connected_cluster(1, 4);
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

TEST(not_my_vbucket, VB_07_a_fetch_that_is_wanted_during_another_one_follows_its_answer) {
    auto [cluster, driver] = connected_cluster(1, 4);
    driver.advance(100ms);
    const std::size_t asked = cluster.count(opcode::get_cluster_config);
    cluster.on_request = [](const seen_request& seen) -> std::optional<answer> {
        if (seen.op == opcode::get_cluster_config) {
            return answer{.is_silent = true};
        }
        return seen.op == opcode::set ? std::optional(answer{.status = status::not_my_vbucket})
                                      : std::nullopt;
    };
    driver.upsert("k", "v");
    driver.advance(200ms);
    ASSERT_EQ(cluster.count(opcode::get_cluster_config), asked + 1);
    ASSERT_GE(cluster.count(opcode::set), 3U) << "later refusals have asked for a newer map";
    // The node answers the first fetch as of the time when it was asked.
    const seen_request first = cluster.all(opcode::get_cluster_config).back();
    driver.send(first.connection, nothing_newer(first));
    driver.settle();
    EXPECT_EQ(cluster.count(opcode::get_cluster_config), asked + 2);
}

namespace not_my_vbucket_tests {

// Each new revision wakes the operation, and the servers refuse it again. After that, a revision
// only shortens its wait, to `longest` instead of what its backoff has become.
void expect_wait_after_many_revisions(engine_options options, duration longest) {
    scripted_cluster cluster(1, 4);
    connected_driver driver(cluster, std::move(options));
    driver.advance(100ms);
    const connection_id connection = driver.connections_to(0).at(0);
    cluster.answer_all(opcode::set, {.status = status::not_my_vbucket});
    const auto stored = driver.upsert("k", "v");
    for (int round = 0; round < 5; ++round) {
        ++cluster.revision.rev;
        driver.push_configuration(connection, 0, false);
        driver.advance(1ms);
    }
    driver.advance(300ms);
    const std::size_t sent = cluster.count(opcode::set);
    driver.advance(100ms);
    ASSERT_EQ(cluster.count(opcode::set), sent) << "its backoff is longer than 100 ms";
    cluster.on_request = nullptr;
    ++cluster.revision.rev;
    driver.push_configuration(connection, 0, false);
    const time_point pushed = driver.now;
    driver.advance(longest - 1ms);
    EXPECT_EQ(stored->calls, 0) << "the revisions come so fast that it must not be sent at once";
    driver.advance(longest);
    EXPECT_TRUE(stored->has_succeeded());
    EXPECT_LE(stored->at - pushed, longest + 1ms);
}

}  // namespace not_my_vbucket_tests

TEST(not_my_vbucket, VB_06_a_revision_shortens_the_wait_of_an_operation_that_was_woken_too_often) {
    expect_wait_after_many_revisions({}, 100ms);
}

TEST(not_my_vbucket, VB_06_the_longest_wait_after_a_revision_is_an_option) {
    engine_options options;
    options.revision_delay_max = 30ms;
    expect_wait_after_many_revisions(std::move(options), 30ms);
}

// A configuration that is asked for on a connection that closes never arrives.
TEST(error_map_attributes, EM_07_the_connection_is_dropped_before_a_configuration_is_asked_for) {
    for (const std::string attribute : {"special-handling", "conn-state-invalidated"}) {
        for (const std::string key : {"a", "b", "c", "d"}) {
            scripted_cluster cluster(2, 2);
            for (scripted_node& node : cluster.nodes) {
                node.error_map_text = R"({"version":2,"revision":1,"errors":{)"
                                      R"("7ff0":{"name":"N","desc":"D","attrs":[")" +
                                      attribute + R"(","fetch-config"]}}})";
            }
            connected_driver driver(cluster);
            driver.advance(100ms);
            cluster.answer_all(opcode::set, {.status = status(0x7ff0)});
            const std::size_t asked = cluster.count(opcode::get_cluster_config);
            const auto stored = driver.settled(driver.upsert(key, "v"));
            ASSERT_EQ(stored->calls, 1);
            ASSERT_EQ(driver.closes.size(), 1U);
            ASSERT_EQ(cluster.count(opcode::get_cluster_config), asked + 1) << attribute;
            EXPECT_NE(
                cluster.all(opcode::get_cluster_config).back().node,
                cluster.all(opcode::set).back().node);
        }
    }
}

// Whether the status 0x02 of a store without a CAS means 'locked' depends on the connection.
TEST(error_map_attributes, EM_14_a_connection_with_xerror_has_a_status_of_its_own_for_locks) {
    for (const bool has_xerror : {true, false}) {
        engine_options options;
        options.enable_error_map = has_xerror;
        auto [cluster, driver] = connected_node(options);
        cluster.answer_all(opcode::set, {.status = status::key_eexists});
        const auto stored = driver.settled(driver.upsert("k", "v"));
        EXPECT_EQ(stored->calls, has_xerror ? 1 : 0) << "a lock is waited for";
        if (has_xerror) {
            EXPECT_EQ(stored->result.ec, errc::cas_mismatch);
        }
    }
}

}  // namespace reprise::engine::testing
