#include <gtest/gtest.h>

#include <memory>
#include <reprise/asio/virtual_timer.hpp>
#include <vector>

namespace reprise::virtual_timer_test {

using namespace std::chrono_literals;
using testing::virtual_timer;

struct counter final : wake_target {
    int wakes = 0;
    void wake() noexcept override { ++wakes; }
};

TEST(virtual_timer, wakes_at_its_time_and_not_before) {
    virtual_timer time;
    const auto target = std::make_shared<counter>();
    time.arm(time_point{} + 3s, target);
    time.advance(2s);
    EXPECT_EQ(target->wakes, 0);
    time.advance(1s);
    EXPECT_EQ(target->wakes, 1);
    EXPECT_EQ(time.pending(), 0U);
}

TEST(virtual_timer, a_time_that_has_passed_wakes_at_once) {
    virtual_timer time;
    time.advance(5s);
    const auto target = std::make_shared<counter>();
    time.arm(time_point{} + 3s, target);
    EXPECT_EQ(target->wakes, 1);
}

TEST(virtual_timer, a_target_that_is_gone_does_not_move_time) {
    virtual_timer time;
    {
        const auto target = std::make_shared<counter>();
        time.arm(time_point{} + 3s, target);
        EXPECT_EQ(time.pending(), 1U);
    }
    EXPECT_EQ(time.pending(), 0U);
    EXPECT_FALSE(time.advance_to_next());
    EXPECT_EQ(time.elapsed(), 0s);
}

TEST(virtual_timer, actions_happen_in_order_of_time_and_may_plan_more) {
    virtual_timer time;
    std::vector<int> order;
    time.after(2s, [&] { order.push_back(2); });
    time.after(1s, [&] {
        order.push_back(1);
        time.after(500ms, [&] { order.push_back(15); });
    });
    time.advance(10s);
    EXPECT_EQ(order, (std::vector{1, 15, 2}));
    EXPECT_EQ(time.elapsed(), 10s);
}

TEST(virtual_timer, a_blocking_wait_moves_time_and_ends_at_a_stop) {
    virtual_timer time;
    std::stop_source source;
    EXPECT_TRUE(time.wait_until(time_point{} + 4s, source.get_token()));
    EXPECT_EQ(time.elapsed(), 4s);
    time.after(1s, [&] { source.request_stop(); });
    EXPECT_FALSE(time.wait_until(time_point{} + 60s, source.get_token()));
    EXPECT_EQ(time.elapsed(), 5s);
}

}  // namespace reprise::virtual_timer_test
