#include "operations/key_value_operations.hpp"

#include <gtest/gtest.h>

#include "key_value_parts.hpp"

// Operations and connections without engine_core. Nothing wakes operations, since the events of the
// topology are only recorded.

namespace reprise::engine::testing {

TEST(operations_part, wait_silently_for_a_first_configuration) {
    key_value_parts with(1);
    with.get("a key");
    EXPECT_EQ(with.parts.client.waiting.count(), 1U);
    EXPECT_EQ(with.bucket.topology_waiters.size(), 1U);
    with.configure();
    with.all.waiting().on_configuration(with.bucket, 1, with.parts.now);
    EXPECT_EQ(with.bucket.links[0]->waiters.size(), 1U) << "now it waits for the connection";
}

TEST(operations_part, enter_the_ready_list_of_an_open_connection) {
    key_value_parts with(1);
    with.configure();
    kv_connection& connection = with.open();
    with.get("a key");
    EXPECT_EQ(connection.ready.size(), 1U);
    EXPECT_FALSE(with.links.begin_write(connection, with.parts.now).empty());
    EXPECT_TRUE(connection.ready.empty());
    EXPECT_EQ(connection.waiting.live_operation_count(), 1U);
}

TEST(operations_part, are_encoded_no_further_than_the_credit_allows) {
    engine_options options;
    options.pipeline_credit = 2;
    key_value_parts with(1, options);
    with.configure();
    kv_connection& connection = with.open();
    for (const char* key : {"a", "b", "c"}) {
        with.get(key);
    }
    EXPECT_FALSE(with.links.begin_write(connection, with.parts.now).empty());
    EXPECT_EQ(connection.waiting.operation_count(), 2U);
    EXPECT_EQ(connection.ready.size(), 1U);
}

TEST(operations_part, end_once_when_canceled) {
    key_value_parts with(1);
    const operation_id id = with.get("a key");
    EXPECT_TRUE(with.all.cancel(id, with.parts.now));
    EXPECT_FALSE(with.all.cancel(id, with.parts.now));
    with.ended.drain();
    EXPECT_EQ(with.completed, 1);
    EXPECT_EQ(with.last.ec, errc::request_canceled);
    EXPECT_EQ(with.all.open_count(), 0U);
    EXPECT_EQ(with.parts.client.waiting.count(), 0U);
}

TEST(operations_part, time_out_at_their_deadline) {
    key_value_parts with(1);
    with.get("a key");
    operation_slot& slot = *with.bucket.topology_waiters.front();
    with.all.on_due(slot, slot.deadline);
    with.ended.drain();
    EXPECT_EQ(with.last.ec, errc::unambiguous_timeout);
}

TEST(operations_part, are_sent_again_after_their_connection_is_gone) {
    key_value_parts with(1);
    with.configure();
    kv_connection& connection = with.open();
    with.get("a key");
    const auto handed = base::total_size(with.links.begin_write(connection, with.parts.now));
    with.links.on_closed(connection, close_reason::reset, handed, with.parts.now);
    with.ended.drain();
    EXPECT_EQ(with.completed, 0);
    EXPECT_EQ(with.bucket.links[0]->waiters.size(), 1U) << "nothing was sent, so it waits";
    EXPECT_EQ(with.parts.context.counters.retries, 1U);
}

}  // namespace reprise::engine::testing
