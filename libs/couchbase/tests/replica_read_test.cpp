#include "replica_read.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace replica_copies_test {

using namespace reprise;
using couchbase::read_preference;
using couchbase::detail::choose_copies;
using copies = std::vector<std::uint8_t>;

// Four nodes in three groups; the copies of vbucket 0 are on the first three of them.
wire::cluster_configuration_ptr make_map(const std::string& row, const std::string& more = "") {
    std::string nodes;
    std::string listed;
    for (const char* group : {"east", "west", "west", "north"}) {
        nodes += (nodes.empty() ? "" : ",");
        nodes += std::string(R"({"services":{"kv":11210},"hostname":"h","serverGroup":")") + group +
                 "\"}";
        listed += listed.empty() ? R"("h:11210")" : R"(,"h:11210")";
    }
    const auto map = wire::parse_cluster_configuration(
        R"({"rev":1,"name":"b","nodeLocator":"vbucket","nodesExt":[)" + nodes +
        R"(],"vBucketServerMap":{"numReplicas":2,"serverList":[)" + listed + R"(],"vBucketMap":[)" +
        row + "]}" + more + "}");
    EXPECT_TRUE(map.has_value());
    return map ? *map : nullptr;
}

TEST(replica_copies, no_preference_reads_all_copies_that_the_map_names) {
    EXPECT_EQ(
        choose_copies(*make_map("[0,1,2]"), 0, read_preference::no_preference, "west"),
        (copies{0, 1, 2}));
    EXPECT_EQ(
        choose_copies(*make_map("[0,-1,2]"), 0, read_preference::no_preference, ""),
        (copies{0, 2}));
    EXPECT_EQ(
        choose_copies(*make_map("[-1,1,2]"), 0, read_preference::no_preference, ""),
        (copies{0, 1, 2}))
        << "the active copy may come back";
}

TEST(replica_copies, a_preference_reads_the_copies_of_its_group) {
    const auto map = make_map("[0,1,2]");
    for (const auto preference :
         {read_preference::selected_server_group,
          read_preference::selected_server_group_or_all_available}) {
        EXPECT_EQ(choose_copies(*map, 0, preference, "west"), (copies{1, 2}));
        EXPECT_EQ(choose_copies(*map, 0, preference, "east"), (copies{0}));
    }
}

TEST(replica_copies, without_a_copy_in_the_group_there_are_none_or_all) {
    const auto map = make_map("[0,1,2]");
    for (const std::string group : {"north", "mars", ""}) {
        EXPECT_EQ(choose_copies(*map, 0, read_preference::selected_server_group, group), copies{});
        EXPECT_EQ(
            choose_copies(*map, 0, read_preference::selected_server_group_or_all_available, group),
            (copies{0, 1, 2}));
    }
}

TEST(replica_copies, lookups_need_a_bucket_that_announces_them) {
    using couchbase::detail::has_replica_lookups;
    EXPECT_FALSE(has_replica_lookups(*make_map("[0,1,2]")));
    EXPECT_TRUE(has_replica_lookups(
        *make_map("[0,1,2]", R"(,"bucketCapabilities":["cccp","subdoc.ReplicaRead"])")));
}

}  // namespace replica_copies_test
