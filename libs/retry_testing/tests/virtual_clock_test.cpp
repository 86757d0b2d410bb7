#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include <reprise/testing/virtual_clock.hpp>

namespace reprise::testing {

using namespace std::chrono_literals;

struct counter final : driver::wake_target {
    int wakes = 0;
    void wake() noexcept override { ++wakes; }
};

TEST(virtual_clock, moves_only_in_waits) {
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

TEST(virtual_clock, wakes_at_its_time_and_not_before) {
    virtual_clock clock;
    const auto target = std::make_shared<counter>();
    clock.arm(time_point{} + 3s, target);
    clock.advance(2s);
    EXPECT_EQ(target->wakes, 0);
    clock.advance(1s);
    EXPECT_EQ(target->wakes, 1);
    EXPECT_EQ(clock.pending(), 0U);
}

TEST(virtual_clock, a_time_that_has_passed_wakes_at_once) {
    virtual_clock clock;
    clock.advance(5s);
    const auto target = std::make_shared<counter>();
    clock.arm(time_point{} + 3s, target);
    EXPECT_EQ(target->wakes, 1);
}

TEST(virtual_clock, a_target_that_is_gone_does_not_move_time) {
    virtual_clock clock;
    {
        const auto target = std::make_shared<counter>();
        clock.arm(time_point{} + 3s, target);
        EXPECT_EQ(clock.pending(), 1U);
    }
    EXPECT_EQ(clock.pending(), 0U);
    EXPECT_FALSE(clock.advance_to_next());
    EXPECT_EQ(clock.elapsed(), 0s);
}

// The test plays the part of a context whose only work is what the clock wakes.
TEST(virtual_clock, plays_a_context_to_its_end) {
    struct context {
        int polls = 0;
        void restart() {}
        void poll() { ++polls; }
    } io;
    virtual_clock clock;
    const auto target = std::make_shared<counter>();
    clock.arm(time_point{} + 1h, target);
    clock.arm(time_point{} + 2h, target);
    EXPECT_EQ(clock.run(io), 2U);
    EXPECT_EQ(io.polls, 3);
    EXPECT_EQ(target->wakes, 2);
    EXPECT_EQ(clock.elapsed(), 2h);
}

}  // namespace reprise::testing
