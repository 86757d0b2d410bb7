#include <gtest/gtest.h>

#include <string>

#include <fake_name_server.hpp>

#include "live_cluster.hpp"

// Names of hosts and services, resolved by a name server that the test runs.

namespace {

using namespace live;
using reprise::net::testing::fake_name_server;

constexpr const char* domain = "cluster.reprise.test";
constexpr const char* service = "_couchbase._tcp.cluster.reprise.test";

couchbase::cluster connect_by_name(const fake_name_server& names, const std::string& where) {
    auto options = app_options();
    options.dns_servers = names.address();
    options.dns_timeout = 200ms;
    return couchbase::cluster::connect(where, options).value();
}

// A node is not at its default port here, since the system chooses the ports. The way to it is a
// service record, which contains a port.
TEST(name_service, service_records_name_the_seeds_in_order_of_priority) {
    const auto server = start();
    fake_name_server names;
    names.add_srv(
        service, {.priority = 20, .weight = 1, .port = 1, .target = "bad.cluster.reprise.test"});
    names.add_srv(
        service, {.priority = 10,
                  .weight = 1,
                  .port = server->addresses().nodes.front().port(reprise::wire::service::key_value),
                  .target = "good.cluster.reprise.test"});
    names.add_address("good.cluster.reprise.test", {127, 0, 0, 1});
    names.begin();
    const auto cluster = connect_by_name(names, std::string("couchbase://") + domain);
    const auto stored = documents(cluster).upsert("k", "v");
    EXPECT_TRUE(stored) << words(stored);
    EXPECT_GE(names.question_count(), 2);
}

TEST(name_service, an_address_that_refuses_is_followed_by_the_next_one) {
    const auto server = start();
    fake_name_server names;
    names.add_address("two.reprise.test", {127, 0, 0, 2});  // no listener there
    names.add_address("two.reprise.test", {127, 0, 0, 1});
    names.begin();
    const auto port =
        std::to_string(server->addresses().nodes.front().port(reprise::wire::service::key_value));
    const auto cluster = connect_by_name(names, "couchbase://two.reprise.test:" + port);
    const auto stored = documents(cluster).upsert("k", "v");
    EXPECT_TRUE(stored) << words(stored);
}

TEST(name_service, an_unknown_name_is_a_timeout_that_reports_it) {
    fake_name_server names;
    names.begin();
    const auto cluster = connect_by_name(names, "couchbase://unknown.reprise.test:11210");
    const auto read = must_fail(documents(cluster).get("k", {.timeout = 500ms}));
    EXPECT_EQ(read.code(), couchbase::errc::unambiguous_timeout) << read;
    EXPECT_NE(read.message().find("cannot resolve unknown.reprise.test"), std::string::npos)
        << read;
    EXPECT_GT(names.question_count(), 0);
}

TEST(name_service, a_silent_name_server_blocks_nothing) {
    fake_name_server names;
    names.be_silent();
    names.begin();
    const auto begun = std::chrono::steady_clock::now();
    {
        const auto cluster = connect_by_name(names, std::string("couchbase://") + domain);
        const auto read = must_fail(documents(cluster).get("k", {.timeout = 300ms}));
        EXPECT_EQ(read.code(), couchbase::errc::unambiguous_timeout);
    }
    EXPECT_LT(std::chrono::steady_clock::now() - begun, 20s);
}

}  // namespace
