#include "controlled_backoff.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace reprise::engine {

using namespace std::chrono_literals;

TEST(controlled_backoff, RH_12_delays_are_1_10_50_100_500_then_1000_ms) {
    const std::vector<duration> expected{1ms, 10ms, 50ms, 100ms, 500ms, 1000ms, 1000ms};
    for (std::uint32_t attempts = 0; attempts < expected.size(); ++attempts) {
        EXPECT_EQ(controlled_backoff(attempts), expected[attempts]) << attempts;
    }
    EXPECT_EQ(controlled_backoff(4'000'000'000U), 1000ms);
}

}  // namespace reprise::engine
