#include "planted_bug.hpp"

#include <gtest/gtest.h>

// What tests/planted and the simulation's tests plant must be in no other build.

namespace reprise::engine {

static_assert(static_cast<std::size_t>(bug::retry_after_ignored) == bug_count);

TEST(planted_bug, none_is_in_a_usual_build) {
    static_assert(!planted(bug::retry_write_after_close));
    for (std::size_t number = 0; number <= bug_count; ++number) {
        EXPECT_FALSE(planted(static_cast<bug>(number)));
    }
}

}  // namespace reprise::engine
