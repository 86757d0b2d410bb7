#include <gtest/gtest.h>

#include <reprise/sandbox.hpp>

namespace reprise::sandbox {

TEST(test_cluster, starts_with_the_nodes_user_and_tls_that_the_options_name) {
    auto cluster = test_cluster::start(
        {.node_count = 2,
         .buckets = {"travel"},
         .username = "me",
         .password = "mine",
         .is_tls_enabled = true});
    ASSERT_TRUE(cluster) << cluster.error();
    EXPECT_TRUE(cluster->connection_string().starts_with("couchbase://127.0.0.1:"));
    EXPECT_NE(cluster->connection_string().find(','), std::string::npos) << "two nodes";
    EXPECT_TRUE(cluster->connection_string_tls().starts_with("couchbases://127.0.0.1:"));
    EXPECT_FALSE(cluster->ca_path().empty());
    EXPECT_EQ(cluster->username(), "me");
    EXPECT_EQ(cluster->password(), "mine");
    const auto where = cluster->control(R"({"command":"where","bucket":"travel","key":"k"})");
    EXPECT_TRUE(where) << where.error();
}

TEST(test_cluster, refused_options_are_an_error_for_people) {
    const auto cluster = test_cluster::start({.node_count = 0});
    ASSERT_FALSE(cluster);
    EXPECT_NE(cluster.error().find("node"), std::string::npos) << cluster.error();
}

TEST(test_cluster, a_command_changes_the_cluster_and_returns_its_answer) {
    auto cluster = test_cluster::start().value();
    const auto added =
        cluster.control(R"({"command":"fault_add","ops":["get"],"effect":{"status":"0x86"}})");
    ASSERT_TRUE(added) << added.error();
    EXPECT_NE(added->find(R"("id":1)"), std::string::npos) << *added;
    const auto listed = cluster.control(R"({"command":"fault_list"})");
    ASSERT_TRUE(listed) << listed.error();
    EXPECT_NE(listed->find(R"("id":1)"), std::string::npos) << *listed;
}

TEST(test_cluster, a_command_fails_if_it_is_no_json_or_unknown_or_comes_after_the_stop) {
    auto cluster = test_cluster::start().value();
    EXPECT_FALSE(cluster.control("no json"));
    const auto unknown = cluster.control(R"({"command":"no_such_thing"})");
    ASSERT_FALSE(unknown);
    EXPECT_NE(unknown.error().find("no_such_thing"), std::string::npos) << unknown.error();
    cluster.stop();
    cluster.stop();
    EXPECT_FALSE(cluster.control(R"({"command":"status"})"));
}

}  // namespace reprise::sandbox
