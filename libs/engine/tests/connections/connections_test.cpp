#include "connections/connections.hpp"

#include <gtest/gtest.h>

#include "key_value_parts.hpp"

namespace reprise::engine::testing::connections_tests {

using events = std::vector<std::string>;

std::vector<std::byte> noop_answer(std::uint32_t opaque) {
    return encoded(wire::empty_response{}, header_for(opaque, wire::opcode::noop));
}

TEST(connections, open_one_connection_for_each_link_that_has_a_place) {
    key_value_parts with(2);
    with.configure();
    ASSERT_EQ(with.bucket.links.size(), 2U);
    for (const auto& link : with.bucket.links) {
        ASSERT_NE(link->connection, nullptr);
        EXPECT_EQ(with.links.find(link->connection->id), link->connection);
        EXPECT_TRUE(link->connection->is_armed()) << "the connect timeout";
    }
    EXPECT_EQ(with.links.find(connection_id{99}), nullptr);
}

TEST(connections, report_a_failed_connect_to_the_topology) {
    key_value_parts with(1);
    with.configure();
    node_link& link = *with.bucket.links[0];
    with.parts.listener.events.clear();
    with.links.on_connect_failed(*link.connection, connect_failure::refused, "", with.parts.now);
    EXPECT_EQ(with.parts.listener.take(), (events{"failed node1:11210"}));
    EXPECT_TRUE(link.has_failed);
    EXPECT_TRUE(link.is_armed()) << "it reconnects later";
    EXPECT_EQ(link.problem, "connection refused");
}

TEST(connections, wait_for_a_server_that_has_not_proved_itself) {
    key_value_parts with(1);
    with.parts.endpoints.at("node1", 11210).logins->on_unproved(with.parts.now);
    with.configure();
    node_link& link = *with.bucket.links[0];
    EXPECT_EQ(link.connection, nullptr);
    EXPECT_EQ(link.due(), with.parts.now + login_pace::pause);
}

TEST(connections, close_on_an_answer_to_a_request_that_was_never_sent) {
    key_value_parts with(1);
    with.configure();
    kv_connection& connection = with.open();
    with.links.on_bytes(connection, nullptr, noop_answer(0x4711), with.parts.now);
    EXPECT_EQ(connection.state, connection_state::closed);
    EXPECT_TRUE(with.has_close_action());
}

TEST(connections, close_on_bytes_that_no_key_value_server_sends) {
    key_value_parts with(1);
    with.configure();
    kv_connection& connection = with.open();
    with.links.on_bytes(
        connection, nullptr, base::as_bytes(std::string_view("HTTP/1.1 400")), with.parts.now);
    EXPECT_EQ(connection.state, connection_state::closed);
    EXPECT_EQ(with.bucket.links[0]->connection, nullptr);
}

TEST(connections, send_a_canary_only_if_a_connection_is_open) {
    key_value_parts with(1);
    with.configure();
    const endpoint_record& endpoint = *with.bucket.links[0]->endpoint;
    EXPECT_FALSE(with.links.send_canary(endpoint));
    kv_connection& connection = with.open();
    EXPECT_TRUE(with.links.send_canary(endpoint));
    EXPECT_EQ(connection.waiting.size(), 1U);
}

TEST(connections, probe_a_silent_peer_and_close_it_when_it_stays_silent) {
    key_value_parts with(1);
    with.configure();
    kv_connection& connection = with.open();
    connection.received_last = with.parts.now;
    with.get("a key");
    EXPECT_FALSE(with.links.begin_write(connection, with.parts.now).empty());
    const time_point quiet = with.parts.now + with.parts.context.options.probe_after;
    with.links.on_due(connection, quiet);
    EXPECT_EQ(connection.probe_sent, quiet);
    with.links.on_due(connection, quiet + with.parts.context.options.probe_timeout);
    EXPECT_EQ(connection.state, connection_state::closed);
}

}  // namespace reprise::engine::testing::connections_tests
