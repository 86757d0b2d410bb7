#include <gtest/gtest.h>

#include <boost/asio/thread_pool.hpp>
#include <memory>
#include <string>

#include <reprise/couchbase/asio.hpp>

#include "live_cluster.hpp"

// Credentials that change while a client runs, and several buckets of one client.

namespace identities_test {

using namespace live;
using couchbase::errc;
using couchbase::thread_mode;

void set_password(sandbox::embedded_cluster& server, const std::string& password) {
    server.with_cluster([&](sandbox::cluster& cluster) {
        sandbox::user_options user;
        user.name = "app";
        user.password = password;
        cluster.accounts().put_user(user);
    });
}

// Existing connections stay logged in; only new ones need the new password.
void end_all_connections(sandbox::embedded_cluster& server) {
    for (const bool is_up : {false, true}) {
        server.with_cluster([&](sandbox::cluster& cluster) {
            for (const auto node : cluster.topology().nodes()) {
                ASSERT_TRUE(cluster.topology().set_node_state(node, is_up));
            }
        });
    }
}

// A password that becomes invalid while the client runs: the error names it, and new credentials
// fix it without a restart.
void expect_new_password_fixes(
    sandbox::embedded_cluster& server, const couchbase::cluster& cluster) {
    const auto at = documents(cluster);
    ASSERT_TRUE(at.upsert("k", "v"));
    set_password(server, "next");
    EXPECT_TRUE(at.get("k")) << "open connections stay open";
    end_all_connections(server);
    const auto patient = std::make_shared<couchbase::best_effort_strategy>();
    const auto refused = must_fail(at.get("k", {.timeout = 20s}));
    EXPECT_EQ(refused.code(), errc::authentication_failure) << refused;
    ASSERT_TRUE(cluster.replace_credentials({.username = "app", .password = "next"}));
    const auto repaired = at.get("k", {.timeout = 20s, .strategy = patient});
    EXPECT_TRUE(repaired) << words(repaired);
    const auto standard = at.get("k");
    EXPECT_TRUE(standard) << words(standard);
}

TEST(identities, RH_39_new_credentials_fix_a_client_with_its_own_thread) {
    const auto server = start();
    expect_new_password_fixes(*server, connect(*server));
}

TEST(identities, RH_39_new_credentials_fix_a_client_driven_by_its_callers) {
    const auto server = start();
    auto options = app_options();
    options.threads = thread_mode::caller_drives;
    expect_new_password_fixes(*server, connect(*server, options));
}

TEST(identities, RH_39_new_credentials_fix_a_client_on_the_programs_executor) {
    const auto server = start();
    boost::asio::thread_pool pool(2);
    {
        const auto cluster =
            couchbase::connect(
                pool.get_executor(), server->addresses().connection_string, app_options())
                .value();
        expect_new_password_fixes(*server, cluster);
    }
    pool.join();
}

TEST(identities, credentials_replaced_before_the_old_ones_expire_cause_no_failure) {
    const auto [server, cluster] = connected();
    const auto at = documents(cluster);
    ASSERT_TRUE(at.upsert("k", "v"));
    set_password(*server, "next");
    ASSERT_TRUE(cluster.replace_credentials({.username = "app", .password = "next"}));
    end_all_connections(*server);
    const auto read = at.get("k");
    EXPECT_TRUE(read) << words(read);
}

sandbox::server_options two_buckets() {
    auto options = small_options();
    sandbox::bucket_options hotels;
    hotels.name = "hotels";
    options.cluster.buckets.push_back(hotels);
    return options;
}

TEST(buckets, one_client_serves_several_and_opens_each_on_first_use) {
    const auto [server, cluster] = connected(start(two_buckets()));
    const auto travel = documents(cluster);
    ASSERT_TRUE(travel.upsert("k", "in travel"));
    const auto sessions = server->session_count();
    const auto hotels = cluster.bucket("hotels").default_collection();
    ASSERT_TRUE(hotels.upsert("k", "in hotels"));
    EXPECT_GT(server->session_count(), sessions) << "not opened before";
    EXPECT_EQ(travel.get("k")->text(), "in travel");
    EXPECT_EQ(hotels.get("k")->text(), "in hotels");
}

TEST(buckets, RH_27_the_failure_of_one_does_not_affect_the_others) {
    const auto [server, cluster] = connected(start(two_buckets()));
    const auto nowhere = cluster.bucket("nowhere").default_collection();
    const auto missing = must_fail(nowhere.get("k"));
    EXPECT_EQ(missing.code(), errc::bucket_access_failure) << missing;
    EXPECT_EQ(missing.info().bucket, "nowhere");
    EXPECT_EQ(nowhere.upsert("k", "v").error().code(), errc::bucket_access_failure);
    EXPECT_FALSE(cluster.bucket("nowhere").wait_until_ready(10s));
    EXPECT_TRUE(cluster.wait_until_ready(10s));
    const auto stored = documents(cluster).upsert("k", "v");
    EXPECT_TRUE(stored) << words(stored);
    EXPECT_EQ(stored->trace.retry_attempts, 0U);
    EXPECT_TRUE(cluster.bucket("hotels").default_collection().upsert("k", "v"));
}

// Regression: until a restarted node had created the bucket again, it answered 0x01 to
// SELECT_BUCKET, and 976 operations failed in 5 s because the bucket was declared missing.
TEST(buckets, RH_27_an_open_bucket_is_not_missing_while_its_nodes_restart) {
    auto options = app_options();
    options.missing_bucket_patience = 50ms;
    const auto [server, cluster] = connected(start(), options);
    const auto at = documents(cluster);
    ASSERT_TRUE(at.upsert("k", "v"));
    server->with_cluster([](sandbox::cluster& restarted) {
        for (const auto node : restarted.topology().nodes()) {
            ASSERT_TRUE(restarted.topology().restart(
                node, sandbox::restart_kind::with_data, {.absence = 600ms}));
        }
    });
    // A write could be lost with its connection.
    for (int index = 0; index < 20; ++index) {
        const auto read = must(at.get("k", {.timeout = 20s}));
        if (index == 0) {
            EXPECT_GT(read.trace.retry_attempts, 0U) << "the restart was not met";
        }
    }
}

TEST(buckets, RH_39_a_bucket_created_later_is_found_without_a_restart) {
    const auto [server, cluster] = connected();
    const auto late = cluster.bucket("late").default_collection();
    EXPECT_EQ(late.get("k").error().code(), errc::bucket_access_failure);
    server->with_cluster([](sandbox::cluster& at) {
        sandbox::bucket_options bucket;
        bucket.name = "late";
        ASSERT_TRUE(at.buckets().create(bucket));
    });
    const auto stored = late.upsert(
        "k", "v",
        {.timeout = 20s, .strategy = std::make_shared<couchbase::best_effort_strategy>()});
    EXPECT_TRUE(stored) << words(stored);
}

}  // namespace identities_test
