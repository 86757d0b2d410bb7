#include <gtest/gtest.h>

#include "engine_driver.hpp"

// Tests at which byte a request counts as sent. Errors and ambiguity depend on it.

namespace reprise::engine::testing::on_the_wire_tests {

TEST(on_the_wire, RH_29_an_unwritten_request_counts_as_not_sent) {
    auto [cluster, driver] = connected_node();
    driver.write_room = 0;
    const auto stored = driver.settled(driver.upsert("k", "v"));
    cluster.nodes[0].refuses_connections = true;
    driver.close_node(0);
    driver.advance(3s);
    ASSERT_EQ(stored->code(), errc::unambiguous_timeout);
    EXPECT_FALSE(stored->result.error->is_ambiguous);
    EXPECT_EQ(stored->result.error->last_dispatched_to, "");
    EXPECT_EQ(stored->result.error->connection, 0U);
    EXPECT_EQ(stored->result.error->opaque, 0U);
}

TEST(on_the_wire, RH_29_an_unwritten_retry_leaves_the_attempt_before_it_as_the_last_one) {
    auto [cluster, driver] = connected_node();
    cluster.refuse(opcode::set, status::etmpfail, 1);
    const auto stored = driver.settled(driver.upsert("k", "v"));
    driver.write_room = 0;
    driver.advance(2ms);  // the retry is due and passed to a write
    EXPECT_EQ(driver.engine().statistics().operations_on_wire, 1U);
    const seen_request first = cluster.all(opcode::set).at(0);
    cluster.nodes[0].refuses_connections = true;
    driver.close_node(0);
    driver.advance(3s);
    ASSERT_EQ(stored->calls, 1);
    EXPECT_FALSE(stored->result.error->is_ambiguous);
    EXPECT_EQ(stored->result.error->last_dispatched_to, "node1:11210");
    EXPECT_EQ(stored->result.error->connection, first.connection.value);
    EXPECT_EQ(stored->result.error->opaque, first.opaque);
}

TEST(on_the_wire, RH_16_RH_29_one_byte_that_left_is_enough_to_be_ambiguous) {
    auto [cluster, driver] = connected_node();
    driver.write_room = 1;
    const auto half = driver.upsert("k", "v");
    const auto none = driver.settled(driver.upsert("l", "v"));
    driver.write_room = std::size_t(-1);
    cluster.nodes[0].refuses_connections = true;
    driver.close_node(0);
    driver.settle();
    ASSERT_EQ(half->code(), errc::request_canceled);
    EXPECT_TRUE(half->result.error->is_ambiguous);
    EXPECT_EQ(half->result.error->last_dispatched_to, "node1:11210");
    EXPECT_EQ(none->calls, 0) << "it was not sent, so it waits for the next connection";
    cluster.nodes[0].refuses_connections = false;
    driver.advance(1s);
    EXPECT_TRUE(none->has_succeeded());
    EXPECT_EQ(driver.server.applied_writes, 1U);
}

TEST(
    on_the_wire,
    RH_29_the_last_endpoint_sent_to_is_reported_although_a_later_attempt_was_not_sent) {
    auto [cluster, driver] = connected_cluster(1, 1);
    cluster.refuse(opcode::set, status::etmpfail, 1);
    const auto stored = driver.settled(driver.upsert("k", "v"));
    cluster.map = {{-1}};  // the key loses its owner before the retry
    cluster.revision.rev = 11;
    driver.push_configuration(driver.connections_to(0).at(0), 0, false);
    driver.advance(3s);
    ASSERT_EQ(stored->code(), errc::unambiguous_timeout);
    EXPECT_EQ(stored->result.error->last_reason, retry_reason::node_not_available);
    EXPECT_EQ(stored->result.error->last_dispatched_to, "node1:11210");
}

}  // namespace reprise::engine::testing::on_the_wire_tests
