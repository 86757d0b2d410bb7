#include "operations/completions.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace reprise::engine::completions_tests {

using texts = std::vector<std::string>;

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

TEST(completions, an_entry_that_is_filled_in_place_keeps_its_place_while_others_end) {
    completions ended;
    std::vector<std::uint64_t> seen;
    const auto see = [&](operation_result&& result) { seen.push_back(result.cas); };
    ended.push(see, {});
    ended.add().result.cas = 7;
    completions::ended_operation& entry = ended.last();
    for (int other = 0; other < 100; ++other) {  // until the queue has moved
        ended.push([](operation_result&&) {}, {});
    }
    entry.done = see;
    ended.add().result.cas = 8;
    ended.remove_last();
    EXPECT_EQ(ended.drain(), 102U);
    EXPECT_EQ(seen, (std::vector<std::uint64_t>{0, 7}));
}

TEST(completions, an_entry_that_is_used_again_is_empty) {
    completions ended;
    operation_result first;
    first.cas = 7;
    first.paths.resize(1);
    first.retry_attempts = 3;
    first.error = std::make_shared<error_info>();
    ended.push([](operation_result&&) {}, std::move(first));
    ended.drain();
    ended.add().result.counter = 5;
    ended.remove_last();
    for (int use = 0; use < 2; ++use) {  // the queues take turns
        const operation_result& again = ended.add().result;
        EXPECT_EQ(again.cas, 0U);
        EXPECT_EQ(again.counter, 0U);
        EXPECT_TRUE(again.paths.empty());
        EXPECT_EQ(again.retry_attempts, 0U);
        EXPECT_EQ(again.error, nullptr);
        ended.last().done = [](operation_result&&) {};
        ended.drain();
    }
}

}  // namespace reprise::engine::completions_tests
