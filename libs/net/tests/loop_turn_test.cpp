#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>

#include "loop_turn.hpp"

// Tests which of several callers runs a loop.

namespace reprise::net::loop_turn_test {

using namespace std::chrono_literals;

TEST(loop_turn, belongs_to_one_caller_until_it_ends) {
    loop_turn turn;
    ASSERT_TRUE(turn.try_begin());
    EXPECT_FALSE(turn.try_begin());
    EXPECT_FALSE(turn.begin_until(std::chrono::steady_clock::now()));
    {
        const turn_end at_end(turn);
    }
    EXPECT_TRUE(turn.begin_until(std::chrono::steady_clock::now()));
}

TEST(loop_turn, a_caller_that_waits_takes_it_when_it_is_free) {
    loop_turn turn;
    turn.begin();
    auto next =
        std::async(std::launch::async, [&] { return turn.begin_unless([] { return false; }); });
    turn.end();
    EXPECT_TRUE(next.get());
    EXPECT_FALSE(turn.try_begin()) << "it has the loop now";
}

TEST(loop_turn, a_caller_whose_work_is_done_leaves_it_to_others) {
    loop_turn turn;
    turn.begin();
    std::atomic<bool> is_done = false;
    auto other = std::async(
        std::launch::async, [&] { return turn.begin_unless([&] { return is_done.load(); }); });
    is_done = true;
    turn.announce();
    EXPECT_FALSE(other.get());
    turn.end();
    EXPECT_FALSE(turn.begin_unless([&] { return is_done.load(); })) << "also if it is free";
    EXPECT_TRUE(turn.try_begin());
}

}  // namespace reprise::net::loop_turn_test
