#include "connect_gate.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <vector>

namespace reprise::engine {
namespace connect_gate_tests {

struct wishes {
    explicit wishes(std::size_t count) {
        for (std::size_t index = 0; index < count; ++index) {
            all.emplace_back(connect_wish::kind::link);
        }
    }
    std::deque<connect_wish> all;
};

}  // namespace connect_gate_tests

using connect_gate_tests::wishes;

TEST(connect_gate, gives_no_more_places_than_it_has) {
    wishes of(3);
    connect_gate gate(2);
    for (connect_wish& each : of.all) {
        gate.ask(each, connect_need::now);
    }
    EXPECT_EQ(gate.enter(), &of.all[0]);
    EXPECT_EQ(gate.enter(), &of.all[1]);
    EXPECT_EQ(gate.enter(), nullptr);
    gate.leave();
    EXPECT_EQ(gate.enter(), &of.all[2]);
    EXPECT_EQ(gate.enter(), nullptr);
    EXPECT_EQ(gate.taken_count(), 2U);
}

TEST(connect_gate, takes_the_nearest_need_first) {
    wishes of(3);
    connect_gate gate(3);
    gate.ask(of.all[0], connect_need::later);
    gate.ask(of.all[1], connect_need::now);
    gate.ask(of.all[2], connect_need::later);
    gate.ask(of.all[2], connect_need::now);
    gate.ask(of.all[1], connect_need::later);  // a need that was near stays near
    EXPECT_EQ(gate.enter(), &of.all[1]);
    EXPECT_EQ(gate.enter(), &of.all[2]);
    EXPECT_EQ(gate.enter(), &of.all[0]);
}

TEST(connect_gate, keeps_a_quarter_of_the_places_for_those_that_somebody_waits_for) {
    wishes of(10);
    connect_gate gate(8);
    for (connect_wish& each : of.all) {
        gate.ask(each, connect_need::later);
    }
    for (int index = 0; index < 6; ++index) {
        EXPECT_NE(gate.enter(), nullptr);
    }
    EXPECT_EQ(gate.enter(), nullptr);
    gate.ask(of.all[9], connect_need::now);
    EXPECT_EQ(gate.enter(), &of.all[9]);
    gate.clear();
}

TEST(connect_gate, with_a_single_place_serves_everybody_in_turn) {
    wishes of(1);
    connect_gate gate(1);
    gate.ask(of.all[0], connect_need::later);
    EXPECT_EQ(gate.enter(), &of.all[0]);
}

TEST(connect_gate, forgets_a_wish_that_is_withdrawn) {
    wishes of(2);
    connect_gate gate(4);
    gate.ask(of.all[0], connect_need::now);
    gate.ask(of.all[1], connect_need::later);
    gate.withdraw(of.all[0]);
    gate.withdraw(of.all[0]);
    EXPECT_FALSE(gate.is_queued(of.all[0]));
    EXPECT_EQ(gate.enter(), &of.all[1]);
    EXPECT_EQ(gate.enter(), nullptr);
}

}  // namespace reprise::engine
