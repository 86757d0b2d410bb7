#include <gtest/gtest.h>

#include <reprise/retry.hpp>
#include <reprise/testing/scripted.hpp>

namespace reprise::testing {

using namespace std::chrono_literals;

// It read a list that had no values.
TEST(scripted_random, without_values_is_the_middle_of_every_range) {
    scripted_random random{};
    EXPECT_EQ(random.next(), scripted_random::half);
    EXPECT_EQ(random.next(), scripted_random::half);
    EXPECT_EQ(random.number_count(), 2U);
    virtual_clock clock;
    scripted_operation service{transient()};
    standard_strategy strategy({.backoff = {.base = 1s}});
    EXPECT_TRUE(retry(strategy, {.clock = &clock, .random = &random}, service).has_value());
    EXPECT_EQ(clock.waits(), std::vector<duration>{500ms});
}

TEST(scripted_random, repeats_its_last_value) {
    scripted_random random{scripted_random::lowest, scripted_random::highest};
    EXPECT_EQ(random.next(), scripted_random::lowest);
    EXPECT_EQ(random.next(), scripted_random::highest);
    EXPECT_EQ(random.next(), scripted_random::highest);
}

}  // namespace reprise::testing
