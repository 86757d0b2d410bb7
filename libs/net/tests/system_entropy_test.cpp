#include "system_entropy.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

#include <gtest/gtest.h>

namespace reprise::net {

TEST(system_entropy, every_byte_is_random) {
    std::array<std::byte, 600> first{};
    std::array<std::byte, 600> second{};
    ASSERT_TRUE(system_entropy(first));
    ASSERT_TRUE(system_entropy(second));
    EXPECT_NE(first, second);
    // Each quarter of 600 random bytes almost certainly has a byte that is not zero.
    for (std::size_t begin = 0; begin < first.size(); begin += 150) {
        const auto part = std::span(first).subspan(begin, 150);
        EXPECT_TRUE(std::ranges::any_of(part, [](std::byte each) { return each != std::byte{}; }));
    }
}

}  // namespace reprise::net
