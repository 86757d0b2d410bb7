#include <gtest/gtest.h>

#include <reprise/testing/virtual_clock.hpp>

namespace reprise::testing {

using namespace std::chrono_literals;

TEST(virtual_clock, moves_only_when_somebody_waits) {
    virtual_clock clock;
    EXPECT_EQ(clock.elapsed(), 0s);
    EXPECT_TRUE(clock.wait_until(time_point{} + 3s, {}));
    EXPECT_EQ(clock.elapsed(), 3s);
    EXPECT_TRUE(clock.wait_until(time_point{} + 1s, {}));
    EXPECT_EQ(clock.elapsed(), 3s);
    EXPECT_EQ(clock.waits(), (std::vector<duration>{3s, 0s}));
}

TEST(virtual_clock, stop_in_the_middle_of_a_wait_ends_it_at_that_moment) {
    virtual_clock clock;
    std::stop_source stop;
    clock.after(2s, [&] { stop.request_stop(); });
    EXPECT_FALSE(clock.wait_until(time_point{} + 10s, stop.get_token()));
    EXPECT_EQ(clock.elapsed(), 2s);
}

TEST(virtual_clock, scheduled_actions_run_in_order_of_time_and_may_schedule_more) {
    virtual_clock clock;
    std::vector<int> order;
    clock.after(2s, [&] { order.push_back(2); });
    clock.after(1s, [&] {
        order.push_back(1);
        clock.after(500ms, [&] { order.push_back(15); });
    });
    clock.advance(5s);
    EXPECT_EQ(order, (std::vector<int>{1, 15, 2}));
}

}  // namespace reprise::testing
