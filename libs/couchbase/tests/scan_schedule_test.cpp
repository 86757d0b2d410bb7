#include "scan_schedule.hpp"

#include <gtest/gtest.h>

namespace reprise::couchbase::detail {
namespace {

// Two nodes that take turns; the last vbucket has no owner.
scan_schedule five_vbuckets(std::size_t concurrency) {
    return {{0, 1, 0, 1, std::nullopt}, concurrency};
}

TEST(scan_schedule, each_node_has_as_many_scans_as_the_concurrency_allows) {
    scan_schedule schedule = five_vbuckets(1);
    EXPECT_EQ(schedule.next(), 0);
    EXPECT_EQ(schedule.next(), 1);
    EXPECT_EQ(schedule.next(), 4);
    EXPECT_EQ(schedule.next(), std::nullopt);
    EXPECT_TRUE(schedule.has_more());
    schedule.end(1);
    EXPECT_EQ(schedule.next(), 3);
    EXPECT_EQ(schedule.next(), std::nullopt);
    schedule.end(0);
    EXPECT_EQ(schedule.next(), 2);
    EXPECT_FALSE(schedule.has_more());
}

TEST(scan_schedule, a_higher_concurrency_begins_more_at_once) {
    scan_schedule schedule = five_vbuckets(2);
    for (const int expected : {0, 1, 2, 3, 4}) {
        EXPECT_EQ(schedule.next(), expected);
    }
    EXPECT_FALSE(schedule.has_more());
}

TEST(scan_schedule, a_scan_that_began_before_the_map_was_known_is_not_begun_again) {
    scan_schedule schedule = five_vbuckets(1);
    schedule.begin(0);
    EXPECT_EQ(schedule.next(), 1);
    EXPECT_EQ(schedule.next(), 4);
    EXPECT_EQ(schedule.next(), std::nullopt);
    schedule.end(0);
    EXPECT_EQ(schedule.next(), 2);
}

}  // namespace
}  // namespace reprise::couchbase::detail
