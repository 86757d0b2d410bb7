#include "connections/kv_connection.hpp"

#include <gtest/gtest.h>

#include <reprise/wire/session_messages.hpp>

#include "engine_parts.hpp"

namespace reprise::engine::testing::kv_connection_tests {

struct one_connection {
    explicit one_connection(std::size_t credit) : connection(connection_id{7}, link, credit, pool) {
        connection.state = connection_state::open;
    }
    ~one_connection() {
        while (connection.ready.pop_front() != nullptr) {
        }
    }
    bucket_state bucket{"travel"};
    endpoint_record endpoint;
    node_link link{bucket, endpoint, 0};
    base::block_pool pool;
    kv_connection connection;
    action_list actions;

    std::optional<std::uint32_t> send_noop() {
        return connection.send_own(
            waiter_kind::probe, wire::opcode::noop, 0, wire::empty_request{wire::opcode::noop},
            actions);
    }
};

TEST(kv_connection, requests_one_write_until_the_driver_starts_it) {
    one_connection with(2);
    ASSERT_TRUE(with.send_noop());
    ASSERT_TRUE(with.send_noop());
    EXPECT_EQ(with.actions.size(), 1U);
    with.connection.is_write_requested = false;
    const auto handed = with.connection.begin_outgoing().total_size();
    ASSERT_TRUE(with.send_noop());
    EXPECT_EQ(with.actions.size(), 1U) << "a write is in progress";
    EXPECT_TRUE(with.connection.outgoing.on_written(handed));
    with.connection.request_write(with.actions);
    EXPECT_EQ(with.actions.size(), 2U);
}

TEST(kv_connection, requests_no_write_without_credit) {
    one_connection with(1);
    operation_slot waiting;
    with.connection.ready.push_back(waiting);
    ASSERT_TRUE(with.connection.waiting.insert(waiter_kind::operation, wire::opcode::get, 0));
    EXPECT_FALSE(with.connection.has_credit());
    with.connection.request_write(with.actions);
    EXPECT_TRUE(with.actions.empty());
    with.connection.ready.erase(waiting);
}

TEST(kv_connection, keeps_the_credit_of_an_abandoned_operation_until_it_is_answered) {
    one_connection with(1);
    const auto opaque =
        with.connection.waiting.insert(waiter_kind::operation, wire::opcode::get, 0);
    with.connection.abandon(*opaque);
    with.connection.abandon(*opaque + 1);  // no request has this opaque: no effect
    EXPECT_FALSE(with.connection.has_credit());
    with.connection.waiting.erase(*with.connection.waiting.find(*opaque));
    EXPECT_TRUE(with.connection.has_credit());
}

TEST(kv_connection, requests_nothing_once_it_is_closed) {
    one_connection with(1);
    with.connection.state = connection_state::closed;
    ASSERT_TRUE(with.send_noop());
    EXPECT_TRUE(with.actions.empty());
}

TEST(kv_connection, counts_bytes_that_the_driver_accepted_as_sent) {
    one_connection with(1);
    ASSERT_TRUE(with.send_noop());
    const auto handed = with.connection.begin_outgoing().total_size();
    EXPECT_EQ(with.connection.outgoing.sent_end(handed), 0U);
    ASSERT_TRUE(with.connection.outgoing.on_written(4));
    EXPECT_EQ(with.connection.outgoing.sent_end(handed), 4U);
    EXPECT_EQ(with.connection.outgoing.sent_end(0), handed);
    EXPECT_FALSE(with.connection.outgoing.on_written(handed)) << "more bytes than there were";
}

}  // namespace reprise::engine::testing::kv_connection_tests
