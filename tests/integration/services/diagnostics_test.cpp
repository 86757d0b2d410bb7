#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "live_services.hpp"

// The connections of a client as cluster::diagnostics reports them.

namespace service_diagnostics_test {

using namespace live_services;
using couchbase::cluster_state;
using couchbase::diagnostics_report;
using couchbase::endpoint_state;
using couchbase::service_kind;

std::size_t count_of(const diagnostics_report& report, service_kind service, endpoint_state state) {
    return static_cast<std::size_t>(std::ranges::count_if(report.endpoints, [&](const auto& each) {
        return each.service == service && each.state == state;
    }));
}

// Waits until the report meets the condition, or for ten seconds.
template <class Condition>
diagnostics_report report_when(const couchbase::cluster& cluster, const Condition& is_wanted) {
    const auto until = std::chrono::steady_clock::now() + 10s;
    while (true) {
        auto report = cluster.diagnostics().value();
        if (is_wanted(report) || std::chrono::steady_clock::now() > until) {
            return report;
        }
        (void)cluster.statistics();  // runs an iteration of the loop
    }
}

TEST(diagnostics, name_both_ends_of_every_connection_without_any_request) {
    const auto server = start_services();
    const auto cluster = connect(*server);
    ASSERT_TRUE(documents(cluster).upsert("k", "v"));
    ASSERT_TRUE(cluster.query("SELECT RAW 1", {.readonly = true}));
    const auto asked = requests_to(*server, service::query);
    const auto report = report_when(cluster, [](const diagnostics_report& seen) {
        return seen.state == cluster_state::online;
    });
    EXPECT_EQ(report.state, cluster_state::online);
    EXPECT_EQ(report.id.size(), 16U);
    EXPECT_GE(count_of(report, service_kind::key_value, endpoint_state::connected), 2U);
    EXPECT_EQ(count_of(report, service_kind::query, endpoint_state::connected), 1U);
    for (const auto& each : report.endpoints) {
        EXPECT_TRUE(each.remote.starts_with("127.0.0.1:")) << each.remote;
        EXPECT_TRUE(each.local.starts_with("127.0.0.1:")) << each.local;
        EXPECT_NE(each.local, each.remote);
        EXPECT_TRUE(each.id.starts_with(report.id + "/")) << each.id;
        ASSERT_TRUE(each.last_activity);
        EXPECT_GE(*each.last_activity, 0s);
        EXPECT_LT(*each.last_activity, 60s);
    }
    EXPECT_EQ(requests_to(*server, service::query), asked);
}

TEST(diagnostics, of_a_caller_driven_client_are_available_between_calls) {
    const auto server = start_services();
    auto options = app_options();
    options.threads = couchbase::thread_mode::caller_drives;
    const auto cluster = connect(*server, options);
    EXPECT_EQ(cluster.diagnostics()->state, cluster_state::offline);
    ASSERT_TRUE(documents(cluster).upsert("k", "v"));
    EXPECT_NE(cluster.diagnostics()->state, cluster_state::offline);
}

TEST(diagnostics, of_a_node_that_is_down_are_degraded_and_of_all_offline) {
    const auto server = start_services();
    const auto cluster = connect(*server);
    ASSERT_TRUE(documents(cluster).upsert("k", "v"));
    const auto set_up = [&](std::size_t from, bool is_up) {
        server->with_cluster([&](sandbox::cluster& at) {
            const auto nodes = at.nodes();
            for (std::size_t index = from; index < nodes.size(); ++index) {
                ASSERT_TRUE(at.set_node_state(nodes[index], is_up));
            }
        });
    };
    set_up(1, false);
    const auto degraded = report_when(cluster, [](const diagnostics_report& seen) {
        return seen.state == cluster_state::degraded;
    });
    EXPECT_EQ(degraded.state, cluster_state::degraded);
    set_up(0, false);
    const auto offline = report_when(cluster, [](const diagnostics_report& seen) {
        return seen.state == cluster_state::offline;
    });
    EXPECT_EQ(offline.state, cluster_state::offline);
    EXPECT_NE(to_json(offline).find("\"state\": \"offline\""), std::string::npos)
        << to_json(offline);
    set_up(0, true);
}

TEST(diagnostics, key_value_is_refused_for_http_requests) {
    const auto server = start_services();
    const auto cluster = connect(*server);
    const auto refused =
        cluster.management_request({.service = service_kind::key_value, .target = "/"});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), errc::invalid_argument);
}

}  // namespace service_diagnostics_test
