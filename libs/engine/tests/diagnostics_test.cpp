#include <gtest/gtest.h>

#include "engine_driver.hpp"

// Tests the engine's reports about its connections.

namespace reprise::engine::testing {
namespace {

class diagnostics : public ::testing::Test {
protected:
    diagnostics() : cluster_(2) {
        for (scripted_node& node : cluster_.nodes) {
            node.services.set(wire::service::query, wire::transport::plain, 8093);
        }
    }
    static std::vector<endpoint_diagnostics> of(
        const engine_diagnostics& all, wire::service service) {
        std::vector<endpoint_diagnostics> found;
        for (const auto& each : all.endpoints) {
            if (each.service == service) {
                found.push_back(each);
            }
        }
        return found;
    }
    scripted_cluster cluster_;
};

TEST_F(diagnostics, of_an_unused_engine_are_empty) {
    engine_driver driver(cluster_);
    EXPECT_TRUE(driver.engine().diagnostics().endpoints.empty());
}

TEST_F(diagnostics, name_every_key_value_connection_and_when_it_was_used) {
    connected_driver driver(cluster_);
    const time_point connected = driver.now;
    driver.advance(100ms);
    const auto seen = driver.engine().diagnostics();
    EXPECT_NE(seen.client, 0U);
    ASSERT_EQ(seen.endpoints.size(), 2U);
    EXPECT_EQ(seen.endpoints[0].remote, "node1:11210");
    EXPECT_EQ(seen.endpoints[1].remote, "node2:11210");
    for (const auto& each : seen.endpoints) {
        EXPECT_EQ(each.service, wire::service::key_value);
        EXPECT_EQ(each.state, endpoint_state::connected);
        EXPECT_EQ(each.bucket, "travel");
        EXPECT_NE(each.connection.value, 0U);
        ASSERT_TRUE(each.active_last);
        EXPECT_LE(*each.active_last, connected);
    }
    driver.upsert("k", "v");
    driver.settle();
    const auto later = driver.engine().diagnostics();
    EXPECT_TRUE(std::ranges::any_of(
        later.endpoints, [&](const auto& each) { return each.active_last == driver.now; }));
}

TEST_F(diagnostics, show_pending_and_missing_connections) {
    cluster_.nodes[1].ignores_connections = true;
    connected_driver driver(cluster_);
    auto seen = driver.engine().diagnostics();
    ASSERT_EQ(seen.endpoints.size(), 2U);
    EXPECT_EQ(seen.endpoints[1].state, endpoint_state::connecting);
    EXPECT_FALSE(seen.endpoints[1].active_last);
    cluster_.nodes[0].refuses_connections = true;
    driver.close_node(0);
    driver.settle();
    seen = driver.engine().diagnostics();
    EXPECT_EQ(seen.endpoints[0].state, endpoint_state::disconnected);
    EXPECT_EQ(seen.endpoints[0].connection.value, 0U);
}

// A node that left may still answer the requests that were sent to it.
TEST_F(diagnostics, show_a_connection_to_a_node_that_left_until_it_has_answered) {
    connected_driver driver(cluster_);
    cluster_.answer_all(wire::opcode::get, {.is_silent = true});
    for (int index = 0; index < 20; ++index) {
        driver.get("k" + std::to_string(index));
    }
    driver.settle();
    cluster_.map.assign(cluster_.map.size(), {0});
    cluster_.data_node_count = 1;
    ++cluster_.revision.rev;
    driver.push_configuration_of(0);
    const auto seen = driver.engine().diagnostics();
    ASSERT_EQ(seen.endpoints.size(), 2U);
    EXPECT_EQ(seen.endpoints[0].state, endpoint_state::connected);
    EXPECT_EQ(seen.endpoints[1].state, endpoint_state::disconnecting);
}

TEST_F(diagnostics, show_http_connections_while_there_are_any) {
    cluster_.answer_http({.body = R"({"results":[]})"});
    connected_driver driver(cluster_);
    driver.start_http(readonly_request("{}"));
    driver.settle();
    const auto seen = of(driver.engine().diagnostics(), wire::service::query);
    ASSERT_EQ(seen.size(), 1U);
    EXPECT_EQ(seen[0].state, endpoint_state::connected);
    EXPECT_EQ(seen[0].active_last, driver.now);
    EXPECT_EQ(seen[0].bucket, "");
    driver.advance(2s);
    EXPECT_TRUE(of(driver.engine().diagnostics(), wire::service::query).empty())
        << "idle ones are closed";
}

TEST_F(diagnostics, show_an_unreachable_service_as_long_as_it_is_offered) {
    cluster_.data_node_count = 1;
    cluster_.map = {{0}};
    cluster_.nodes[0].services = {};
    cluster_.nodes[1].refuses_connections = true;
    connected_driver driver(cluster_);
    driver.start_http(readonly_request("{}"));
    driver.settle();
    const auto seen = of(driver.engine().diagnostics(), wire::service::query);
    ASSERT_EQ(seen.size(), 1U);
    EXPECT_EQ(seen[0].state, endpoint_state::disconnected);
    EXPECT_EQ(seen[0].remote, "node2:8093");
    cluster_.nodes[1].services = {};
    ++cluster_.revision.rev;
    driver.push_configuration(driver.connections_to(0)[0], 0, false);
    driver.settle();
    EXPECT_TRUE(of(driver.engine().diagnostics(), wire::service::query).empty());
}

TEST_F(diagnostics, of_a_closed_engine_show_no_wanted_connections) {
    connected_driver driver(cluster_);
    driver.engine().close(driver.now);
    driver.settle();
    EXPECT_TRUE(driver.engine().diagnostics().endpoints.empty());
}

}  // namespace
}  // namespace reprise::engine::testing
