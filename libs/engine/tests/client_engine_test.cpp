#include <gtest/gtest.h>

#include "engine_driver.hpp"

namespace reprise::engine::testing {

TEST(first_steps, a_document_is_stored_and_read) {
    auto [cluster, driver] = unconnected_node();
    const auto stored = driver.after(10ms, driver.upsert("airline_10", "hello"));
    ASSERT_TRUE(stored->has_succeeded()) << to_string(*stored->result.error);
    const auto read = driver.after(1ms, driver.get("airline_10"));
    ASSERT_TRUE(read->has_succeeded()) << to_string(*read->result.error);
    EXPECT_EQ(read->result.value.text(), "hello");
    EXPECT_EQ(read->result.cas, stored->result.cas);
    EXPECT_EQ(read->result.history, nullptr);
}

TEST(first_steps, a_missing_document_is_an_error_value_without_retry) {
    scripted_cluster cluster(2);
    engine_driver driver(cluster);
    const auto read = driver.after(10ms, driver.get("nobody"));
    ASSERT_EQ(read->code(), errc::document_not_found);
    EXPECT_EQ(read->result.error->status, 1);
    EXPECT_EQ(cluster.count(wire::opcode::get), 1U);
}

}  // namespace reprise::engine::testing
