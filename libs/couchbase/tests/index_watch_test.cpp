#include "index_watch.hpp"

#include <gtest/gtest.h>

#include <optional>
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

// Indexes that change with the time, and a loop that lists them as the client does.
struct index_world {
    reprise::testing::virtual_clock clock{};
    std::vector<query_index> indexes{};
    std::optional<couchbase::error> failure{};
    std::vector<duration> waits{};

    driver::decision_context context() {
        return {clock.now(), 0x123456789abcdef0U * (waits.size() + 1)};
    }
    watched list() const {
        return failure ? watched(std::unexpected(*failure))
                       : watched(query_index_list_result{indexes, {}});
    }
    watched watch(const std::vector<std::string>& names, duration timeout) {
        couchbase::detail::index_watch watch(names, timeout, context());
        for (;;) {
            if (auto ended = watch.on_listed(list(), context())) {
                return *std::move(ended);
            }
            waits.push_back(watch.delay());
            EXPECT_LE(clock.now() + watch.delay(), watch.deadline());
            clock.advance(watch.delay());
        }
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
    const auto& waits = world.waits;
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
}

TEST(index_watch, a_missing_index_fails_at_once_by_its_name) {
    index_world world;
    world.indexes = {index_in("a", "building")};
    const auto seen = world.watch({"a", "b"}, 5s);
    ASSERT_FALSE(seen);
    EXPECT_EQ(seen.error().code(), errc::index_not_found);
    EXPECT_NE(seen.error().message().find("'b'"), std::string::npos) << seen.error();
    EXPECT_EQ(world.watch({""}, 5s).error().code(), errc::index_not_found);
    EXPECT_EQ(world.clock.elapsed(), 0s);
}

TEST(index_watch, an_error_of_the_service_ends_it) {
    index_world world;
    world.failure.emplace(errc::authentication_failure, "no");
    const auto seen = world.watch({"a"}, 5s);
    ASSERT_FALSE(seen);
    EXPECT_EQ(seen.error().code(), errc::authentication_failure);
    EXPECT_TRUE(world.waits.empty());
}

}  // namespace index_watch_test
