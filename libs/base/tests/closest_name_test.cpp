#include <reprise/base/closest_name.hpp>

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace reprise::base {

TEST(closest_name, finds_a_typo_and_nothing_that_differs_in_more_than_a_third) {
    constexpr std::array<std::string_view, 3> names{"capacity_per_second", "nodes", "name"};
    EXPECT_EQ(closest_name("capacity_per_secnod", names), "capacity_per_second");
    EXPECT_EQ(closest_name("node", names), "nodes");
    EXPECT_EQ(closest_name("queue", names), "");
    EXPECT_EQ(closest_name("", names), "");
    EXPECT_EQ(closest_name(std::string(10'000, 'n'), names), "");
    EXPECT_EQ(closest_name("nodes", {}), "");
}

}  // namespace reprise::base
