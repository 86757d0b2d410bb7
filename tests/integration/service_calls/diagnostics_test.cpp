#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
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
    const auto [server, cluster] = connected(start_services());
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
    const auto [server, cluster] =
        connected(start_services(), app_options_in(couchbase::thread_mode::caller_drives));
    EXPECT_EQ(cluster.diagnostics()->state, cluster_state::offline);
    ASSERT_TRUE(documents(cluster).upsert("k", "v"));
    EXPECT_NE(cluster.diagnostics()->state, cluster_state::offline);
}

TEST(diagnostics, of_a_node_that_is_down_are_degraded_and_of_all_offline) {
    const auto [server, cluster] = connected(start_services());
    ASSERT_TRUE(documents(cluster).upsert("k", "v"));
    const auto set_up = [&](std::size_t from, bool is_up) {
        server->with_cluster([&](sandbox::cluster& at) {
            const auto nodes = at.topology().nodes();
            for (std::size_t index = from; index < nodes.size(); ++index) {
                ASSERT_TRUE(at.topology().set_node_state(nodes[index], is_up));
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
    const auto [server, cluster] = connected(start_services());
    const auto refused =
        must_fail(cluster.management_request({.service = service_kind::key_value, .target = "/"}));
    EXPECT_EQ(refused.code(), errc::invalid_argument);
}

// The state of each service; of several nodes, the worst.
std::map<service_kind, couchbase::ping_state> states_of(const couchbase::ping_report& report) {
    std::map<service_kind, couchbase::ping_state> states;
    for (const couchbase::service_ping& each : report.services) {
        EXPECT_EQ(each.failure.has_value(), each.state != couchbase::ping_state::ok);
        EXPECT_GE(each.latency, 0s);
        states[each.service] = std::max(states[each.service], each.state);
    }
    return states;
}

TEST(ping, asks_each_service_of_a_cluster_and_of_a_bucket) {
    using couchbase::ping_state;
    const auto [server, cluster] = connected(start_services());
    for (const auto& report : {cluster.ping(), cluster.bucket(bucket_name).ping()}) {
        ASSERT_TRUE(report) << words(report);
        const auto states = states_of(*report);
        EXPECT_EQ(states.size(), 6U);
        EXPECT_TRUE(report->is_well());
        for (const auto& [service, state] : states) {
            EXPECT_EQ(state, ping_state::ok) << to_string(service);
        }
    }
    const auto some = must(cluster.ping({.services = {service_kind::query}}));
    EXPECT_EQ(states_of(some), (std::map{std::pair{service_kind::query, ping_state::ok}}));
    const std::size_t node_count = server->addresses().nodes.size();
    EXPECT_EQ(requests_to(*server, service::query), 3 * node_count);
}

// The official client's report has an entry for each node, too.
TEST(ping, asks_every_node_and_names_the_one_that_does_not_answer) {
    using couchbase::ping_state;
    const auto [server, cluster] = connected(start_services());
    const std::size_t node_count = server->addresses().nodes.size();
    ASSERT_GE(node_count, 2U);
    for (const auto& report : {cluster.ping(), cluster.bucket(bucket_name).ping()}) {
        ASSERT_TRUE(report) << words(report);
        std::map<service_kind, std::set<std::string>> remotes;
        for (const couchbase::service_ping& each : report->services) {
            EXPECT_TRUE(remotes[each.service].insert(each.remote).second) << each.remote;
        }
        for (const auto& [service, names] : remotes) {
            EXPECT_EQ(names.size(), node_count) << to_string(service);
        }
    }
    auto silent = disturb(service::query, sandbox::fault_no_answer{}, 1000);
    silent.node = sandbox::node_id{1};
    add_rule(*server, silent);
    sandbox::fault_rule noop;
    noop.ops = {reprise::wire::opcode::noop};
    noop.node = sandbox::node_id{1};
    noop.effect = sandbox::fault_no_answer{};
    server->with_cluster([&](sandbox::cluster& at) { at.faults().add(noop); });
    const auto& bad = server->addresses().nodes[1];
    // Requests that name no node take the nodes in turn: one between two pings makes sure that an
    // answer of the wrong node would have been seen.
    for (int round = 0; round < 2; ++round) {
        const auto report = must(cluster.bucket(bucket_name).ping({.timeout = 500ms}));
        for (const couchbase::service_ping& each : report.services) {
            const bool is_bad =
                each.remote.ends_with(
                    ":" + std::to_string(bad.port(reprise::wire::service::query))) ||
                each.remote.ends_with(
                    ":" + std::to_string(bad.port(reprise::wire::service::key_value)));
            EXPECT_EQ(each.state == ping_state::ok, !is_bad)
                << to_string(each.service) << each.remote;
        }
        EXPECT_FALSE(report.is_well());
        ASSERT_TRUE(
            cluster.management_request({.service = service_kind::search, .target = "/api/ping"}));
    }
}

TEST(ping, reports_what_does_not_answer_and_ends_with_its_timeout) {
    using couchbase::ping_state;
    const auto [server, cluster] = connected(start_services());
    const auto nowhere = must(cluster.bucket("nowhere").ping({.timeout = 10s}));
    EXPECT_EQ(states_of(nowhere).at(service_kind::key_value), ping_state::error);
    EXPECT_EQ(states_of(nowhere).at(service_kind::query), ping_state::ok);
    EXPECT_FALSE(nowhere.is_well());
    add_rule(*server, disturb(service::query, sandbox::fault_no_answer{}, 1000));
    const auto begun = std::chrono::steady_clock::now();
    const auto silent = cluster.ping({.timeout = 300ms});
    EXPECT_LT(std::chrono::steady_clock::now() - begun, 10s);
    ASSERT_TRUE(silent) << words(silent);
    EXPECT_EQ(states_of(*silent).at(service_kind::query), ping_state::timeout);
    EXPECT_EQ(states_of(*silent).at(service_kind::search), ping_state::ok);
    EXPECT_FALSE(silent->is_well());
}

TEST(ping, a_service_that_no_node_has_is_not_offered_and_no_failure) {
    auto options = service_options();
    options.services = {service::query};
    const auto [server, cluster] = connected(start(options));
    const auto report = must(cluster.ping());
    EXPECT_EQ(states_of(report).at(service_kind::analytics), couchbase::ping_state::not_offered);
    EXPECT_TRUE(report.is_well());
}

}  // namespace service_diagnostics_test
