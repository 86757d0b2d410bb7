#include "operations/scan_progress.hpp"

#include <string>

#include <gtest/gtest.h>

namespace reprise::engine::testing::scan_progress_tests {

using namespace couchbase;

wire::scan_range range_of(const scan_kind& what) {
    return std::get<wire::scan_range>(to_wire(what));
}

TEST(scan_progress, a_range_without_ends_contains_all_keys) {
    const auto all = range_of(range_scan{});
    EXPECT_EQ(all.start.key, std::string(1, '\0'));
    EXPECT_EQ(all.end.key, "\xff");
    EXPECT_EQ(range_of(prefix_scan{}), all);
}

TEST(scan_progress, bounds_are_sent_as_they_are_given) {
    const auto range = range_of(range_scan{.from = {"a", true}, .to = {"b", true}});
    EXPECT_EQ(range.start, (wire::scan_bound{"a", true}));
    EXPECT_EQ(range.end, (wire::scan_bound{"b", true}));
    EXPECT_FALSE(range_of(range_scan{.from = {"a"}}).start.is_exclusive);
}

TEST(scan_progress, a_prefix_is_the_range_of_all_keys_that_begin_with_it) {
    const auto range = range_of(prefix_scan{"user_"});
    EXPECT_EQ(range.start, (wire::scan_bound{"user_", false}));
    EXPECT_EQ(range.end, (wire::scan_bound{"user_\xff", false}));
}

TEST(scan_progress, a_sample_is_sent_with_its_seed) {
    const sampling_scan what{.limit = 3, .seed = 5};
    EXPECT_EQ(std::get<wire::scan_sampling>(to_wire(what)), (wire::scan_sampling{3, 5}));
}

TEST(scan_progress, limits_of_zero_and_bounds_that_are_too_long_are_refused) {
    const auto is_valid = [](const scan_kind& what, const scan_options& options = {}) {
        return why_invalid({what, options}) == nullptr;
    };
    EXPECT_TRUE(is_valid(range_scan{}));
    EXPECT_FALSE(is_valid(range_scan{}, {.batch_item_limit = 0}));
    EXPECT_FALSE(is_valid(range_scan{}, {.batch_byte_limit = 0}));
    EXPECT_FALSE(is_valid(range_scan{}, {.concurrency = 0}));
    EXPECT_FALSE(is_valid(sampling_scan{}));
    EXPECT_FALSE(is_valid(prefix_scan{std::string(251, 'a')}));
    EXPECT_TRUE(is_valid(prefix_scan{std::string(250, 'a')}));
    for (const bool is_start : {true, false}) {
        range_scan range;
        scan_term& end = is_start ? range.from : range.to;
        end.key.assign(251, 'a');
        EXPECT_TRUE(is_valid(range));
        end.key.assign(252, 'a');
        EXPECT_FALSE(is_valid(range));
    }
}

TEST(scan_progress, a_vbucket_must_have_the_newest_of_its_mutations) {
    const mutation_state state{
        {{"travel", 3, 7, 10},
         {"travel", 3, 7, 12},
         {"travel", 3, 7, 11},
         {"travel", 4, 8, 99},
         {"other", 3, 9, 50}}};
    EXPECT_EQ(snapshot_for(state, "travel", wire::vbucket_id{3}), (wire::scan_snapshot{7, 12, 0}));
    EXPECT_EQ(snapshot_for(state, "travel", wire::vbucket_id{5}), std::nullopt);
}

}  // namespace reprise::engine::testing::scan_progress_tests
