#include "operations/completions.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace reprise::engine {
namespace completions_tests {

using texts = std::vector<std::string>;

}  // namespace completions_tests

using completions_tests::texts;

TEST(completions, run_in_the_order_in_which_operations_ended) {
    completions ended;
    texts seen;
    ended.push([&](operation_result&&) { seen.emplace_back("first"); }, {});
    ended.push([&](operation_result&&) { seen.emplace_back("second"); }, {});
    ended.notify([&] { seen.emplace_back("rows"); });
    EXPECT_FALSE(ended.empty());
    EXPECT_EQ(ended.drain(), 3U);
    EXPECT_EQ(seen, (texts{"rows", "first", "second"}));
    EXPECT_TRUE(ended.empty());
    EXPECT_EQ(ended.drain(), 0U);
}

TEST(completions, leave_completions_added_by_a_completion_for_the_next_call) {
    completions ended;
    texts seen;
    ended.push(
        [&](operation_result&&) {
            ended.push([&](operation_result&&) { seen.emplace_back("later"); }, {});
            EXPECT_EQ(ended.drain(), 0U) << "called from inside";
            seen.emplace_back("now");
        },
        {});
    EXPECT_EQ(ended.drain(), 1U);
    EXPECT_EQ(seen, (texts{"now"}));
    EXPECT_EQ(ended.drain(), 1U);
    EXPECT_EQ(seen, (texts{"now", "later"}));
}

}  // namespace reprise::engine
