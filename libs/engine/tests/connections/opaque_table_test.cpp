#include "connections/opaque_table.hpp"

#include <gtest/gtest.h>

namespace reprise::engine {

TEST(opaque_table, opaques_are_sequential_and_compared_as_a_whole) {
    opaque_table table(4);
    const auto first = table.insert(waiter_kind::operation, wire::opcode::get, 7);
    const auto second = table.insert(waiter_kind::probe, wire::opcode::noop, 0);
    ASSERT_TRUE(first.has_value());
    EXPECT_EQ(*second, *first + 1);
    ASSERT_NE(table.find(*first), nullptr);
    EXPECT_EQ(table.find(*first)->target, 7U);
    EXPECT_EQ(table.find(*first + 4), nullptr);
    EXPECT_EQ(table.operation_count(), 1U);
    table.erase(*table.find(*first));
    EXPECT_EQ(table.find(*first), nullptr);
    EXPECT_EQ(table.operation_count(), 0U);
}

TEST(opaque_table, a_full_table_returns_nothing_and_skips_taken_places) {
    opaque_table table(4);
    std::vector<std::uint32_t> given;
    for (int index = 0; index < 4; ++index) {
        given.push_back(*table.insert(waiter_kind::operation, wire::opcode::get, 0));
    }
    EXPECT_FALSE(table.insert(waiter_kind::operation, wire::opcode::get, 0).has_value());
    table.erase(*table.find(given[2]));
    const auto next = table.insert(waiter_kind::operation, wire::opcode::get, 1);
    ASSERT_TRUE(next.has_value());
    EXPECT_EQ(*next % 4, given[2] % 4);
    EXPECT_GT(*next, given[3]);
}

TEST(opaque_table, issued_opaques_are_distinguished_from_others) {
    opaque_table table(4);
    EXPECT_FALSE(table.was_issued(opaque_table::opaque_min));
    const auto first = table.insert(waiter_kind::operation, wire::opcode::get, 0);
    EXPECT_TRUE(table.was_issued(*first));
    EXPECT_FALSE(table.was_issued(*first + 1));
    EXPECT_FALSE(table.was_issued(*first + 4));
    EXPECT_FALSE(table.was_issued(0xffff'ffffU));
    table.erase(*table.find(*first));
    EXPECT_TRUE(table.was_issued(*first)) << "answered twice";
    for (int index = 0; index < 5; ++index) {
        const auto next = table.insert(waiter_kind::operation, wire::opcode::get, 0);
        table.erase(*table.find(*next));
    }
    EXPECT_TRUE(table.was_issued(*first + 5));
    EXPECT_TRUE(table.was_issued(*first + 1)) << "its place was used again since";
    EXPECT_FALSE(table.was_issued(*first + 6));
    EXPECT_FALSE(table.was_issued(*first + 8));
}

TEST(opaque_table, an_abandoned_entry_keeps_its_place_and_its_credit_until_answered) {
    opaque_table table(4);
    const auto opaque = table.insert(waiter_kind::operation, wire::opcode::get, 7);
    table.abandon(*table.find(*opaque));
    table.abandon(*table.find(*opaque));
    EXPECT_EQ(table.abandoned_count(), 1U);
    EXPECT_EQ(table.operation_count(), 1U);
    EXPECT_EQ(table.find(*opaque)->kind, waiter_kind::abandoned);
    table.erase(*table.find(*opaque));
    EXPECT_EQ(table.abandoned_count(), 0U);
    EXPECT_EQ(table.operation_count(), 0U);
    EXPECT_EQ(table.size(), 0U);
}

}  // namespace reprise::engine
