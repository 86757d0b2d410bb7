#include "index_watch.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <reprise/testing/virtual_clock.hpp>

namespace index_watch_test {

using namespace reprise;
using namespace std::chrono_literals;
using couchbase::errc;
using couchbase::query_index;
using couchbase::query_index_list_result;
using watched = std::expected<query_index_list_result, couchbase::error>;

query_index index_in(const std::string& name, const std::string& state) {
    query_index made;
    made.name = name;
    made.is_primary = name == "#primary";
    made.state = state;
    return made;
}

// Indexes that change with the time. Lists them as a service would.
struct index_world {
    reprise::testing::virtual_clock clock{};
    std::vector<query_index> indexes{};
    std::vector<duration> limits{};  // of each list call
    std::stop_source closing{};

    watched watch(const std::vector<std::string>& names, duration timeout) {
        return couchbase::detail::watch_indexes(
            names, timeout, clock, closing.get_token(), [&](duration left) -> watched {
                limits.push_back(left);
                return query_index_list_result{indexes, {}};
            });
    }
};

TEST(index_watch, returns_at_once_if_all_indexes_are_online) {
    index_world world;
    world.indexes = {
        index_in("#primary", "online"), index_in("a", "online"), index_in("b", "building")};
    const auto seen = world.watch({"a", ""}, 10s);
    ASSERT_TRUE(seen) << seen.error();
    EXPECT_EQ(seen->indexes.size(), 3U);
    EXPECT_EQ(world.clock.elapsed(), 0s);
}

TEST(index_watch, asks_again_with_growing_delays_until_the_index_is_online) {
    index_world world;
    world.indexes = {index_in("a", "building")};
    world.clock.after(20s, [&] { world.indexes.front().state = "online"; });
    const auto seen = world.watch({"a"}, 60s);
    ASSERT_TRUE(seen) << seen.error();
    EXPECT_GE(world.clock.elapsed(), 20s);
    EXPECT_LE(world.clock.elapsed(), 21s);
    const auto& waits = world.clock.waits();
    EXPECT_LE(waits.front(), 50ms);
    EXPECT_GE(waits.size(), 20U);
    EXPECT_LE(waits.size(), 60U);
    for (const duration each : waits) {
        EXPECT_LE(each, 1s);
    }
}

TEST(index_watch, ends_at_the_timeout_and_names_the_index_that_is_not_online) {
    index_world world;
    world.indexes = {index_in("a", "online"), index_in("b", "deferred")};
    const auto seen = world.watch({"a", "b"}, 5s);
    ASSERT_FALSE(seen);
    EXPECT_EQ(seen.error().code(), errc::unambiguous_timeout);
    EXPECT_NE(seen.error().message().find("index 'b' is deferred"), std::string::npos)
        << seen.error();
    EXPECT_LE(world.clock.elapsed(), 5s);
    for (const duration left : world.limits) {
        EXPECT_LE(left, 5s);
    }
    EXPECT_LT(world.limits.back(), world.limits.front());
}

// The wait used to end first: closing the client was noticed up to a second later.
TEST(index_watch, closing_the_client_ends_a_wait_at_once) {
    index_world world;
    world.indexes = {index_in("a", "building")};
    world.clock.after(9123ms, [&] { world.closing.request_stop(); });
    const auto seen = world.watch({"a"}, 60s);
    ASSERT_FALSE(seen);
    EXPECT_EQ(seen.error().code(), errc::request_canceled) << seen.error();
    EXPECT_EQ(world.clock.elapsed(), 9123ms);
}

TEST(index_watch, a_missing_index_fails_at_once_by_its_name) {
    index_world world;
    world.indexes = {index_in("a", "building")};
    const auto seen = world.watch({"a", "b"}, 5s);
    ASSERT_FALSE(seen);
    EXPECT_EQ(seen.error().code(), errc::index_not_found);
    EXPECT_NE(seen.error().message().find("'b'"), std::string::npos) << seen.error();
    EXPECT_EQ(world.watch({""}, 5s).error().code(), errc::index_not_found);
    EXPECT_EQ(world.watch({}, 5s).error().code(), errc::invalid_argument);
    EXPECT_EQ(world.clock.elapsed(), 0s);
}

TEST(index_watch, an_error_of_the_service_ends_it) {
    index_world world;
    int asked = 0;
    const auto seen = couchbase::detail::watch_indexes(
        {"a"}, 5s, world.clock, world.closing.get_token(), [&](duration) -> watched {
            ++asked;
            return std::unexpected(couchbase::error(errc::authentication_failure, "no"));
        });
    ASSERT_FALSE(seen);
    EXPECT_EQ(seen.error().code(), errc::authentication_failure);
    EXPECT_EQ(asked, 1);
}

}  // namespace index_watch_test
