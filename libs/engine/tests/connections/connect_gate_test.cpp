#include "connections/connect_gate.hpp"

#include <gtest/gtest.h>

#include <deque>

namespace reprise::engine::connect_gate_tests {

struct requests {
    explicit requests(std::size_t count) {
        for (std::size_t index = 0; index < count; ++index) {
            all.emplace_back(connect_request::kind::link);
        }
    }
    std::deque<connect_request> all;
};

// Opens nothing; declines while `is_willing` is false.
class counting_starter final : public connect_starter {
public:
    bool begin_connect(connect_request&, time_point) override {
        count += is_willing ? 1 : 0;
        return is_willing;
    }
    bool is_willing = true;
    int count = 0;
};

TEST(connect_gate, gives_no_more_places_than_it_has) {
    requests of(3);
    connect_gate gate(2);
    for (connect_request& each : of.all) {
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

TEST(connect_gate, admits_the_most_urgent_request_first) {
    requests of(3);
    connect_gate gate(3);
    gate.ask(of.all[0], connect_need::later);
    gate.ask(of.all[1], connect_need::now);
    gate.ask(of.all[2], connect_need::later);
    gate.ask(of.all[2], connect_need::now);
    gate.ask(of.all[1], connect_need::later);  // an urgent request stays urgent
    EXPECT_EQ(gate.enter(), &of.all[1]);
    EXPECT_EQ(gate.enter(), &of.all[2]);
    EXPECT_EQ(gate.enter(), &of.all[0]);
}

TEST(connect_gate, keeps_a_quarter_of_the_places_for_connections_that_operations_wait_for) {
    requests of(10);
    connect_gate gate(8);
    for (connect_request& each : of.all) {
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

TEST(connect_gate, with_a_single_place_admits_all_requests_in_turn) {
    requests of(1);
    connect_gate gate(1);
    gate.ask(of.all[0], connect_need::later);
    EXPECT_EQ(gate.enter(), &of.all[0]);
}

TEST(connect_gate, forgets_a_request_that_is_withdrawn) {
    requests of(2);
    connect_gate gate(4);
    gate.ask(of.all[0], connect_need::now);
    gate.ask(of.all[1], connect_need::later);
    gate.withdraw(of.all[0]);
    gate.withdraw(of.all[0]);
    EXPECT_FALSE(gate.is_queued(of.all[0]));
    EXPECT_EQ(gate.enter(), &of.all[1]);
    EXPECT_EQ(gate.enter(), nullptr);
}

TEST(connect_gate, admits_the_next_when_a_connection_is_open) {
    requests of(2);
    counting_starter starter;
    connect_gate gate(1);
    gate.set_starter(connect_request::kind::link, starter);
    gate.ask(of.all[0], connect_need::now);
    gate.ask(of.all[1], connect_need::now);
    gate.admit({});
    EXPECT_EQ(starter.count, 1);
    bool is_opening = true;
    gate.end_opening(is_opening, {});
    EXPECT_EQ(starter.count, 2);
    EXPECT_FALSE(is_opening);
    gate.end_opening(is_opening, {});  // it has no place any more: no effect
    EXPECT_EQ(gate.taken_count(), 1U);
}

TEST(connect_gate, keeps_no_place_for_a_request_that_is_declined) {
    requests of(2);
    counting_starter starter;
    starter.is_willing = false;
    connect_gate gate(1);
    gate.set_starter(connect_request::kind::link, starter);
    gate.ask(of.all[0], connect_need::now);
    gate.ask(of.all[1], connect_need::now);
    gate.admit({});
    EXPECT_EQ(gate.taken_count(), 0U);
    EXPECT_FALSE(gate.is_queued(of.all[1]));
}

}  // namespace reprise::engine::connect_gate_tests
