#include <gtest/gtest.h>

#include "engine_driver.hpp"

// The engine limits how many connections it opens at once, whatever a configuration names and
// whatever the nodes do.

namespace reprise::engine::testing::connect_pacing_tests {

constexpr std::size_t most = 4096;

// The first node works. The others neither accept nor refuse a connection.
void let_the_others_hang(scripted_cluster& cluster) {
    for (std::size_t index = 1; index < cluster.nodes.size(); ++index) {
        cluster.nodes[index].ignores_connections = true;
    }
}

// Counts pending connections to nodes that do not answer.
std::size_t opening_count(const engine_driver& driver) {
    return driver.connects.size() - driver.closes.size() - 1;
}

std::string key_of(const scripted_cluster& cluster, std::size_t node) {
    for (int index = 0;; ++index) {
        std::string key = "key" + std::to_string(index);
        if (cluster.map[wire::vbucket_of(key, cluster.map.size()).value][0] ==
            static_cast<std::int16_t>(node)) {
            return key;
        }
    }
}

TEST(connect_pacing, a_configuration_of_4096_nodes_opens_64_connections_at_once_and_no_more) {
    scripted_cluster cluster(most, most);
    let_the_others_hang(cluster);
    connected_driver driver(cluster);
    // No operation waits for any of them, so a quarter of the places stays free.
    EXPECT_EQ(opening_count(driver), 48U);
    std::vector<engine_driver::outcome_ptr> waiting;
    for (std::size_t node = 3000; node < 3100; ++node) {
        waiting.push_back(driver.get(key_of(cluster, node)));
    }
    driver.settle();
    EXPECT_EQ(opening_count(driver), 64U);
    for (std::size_t step = 0; step < 100; ++step) {
        driver.advance(100ms);
        ASSERT_LE(opening_count(driver), 64U);
    }
    // The nodes that operations waited for were tried before all others.
    ASSERT_GE(driver.connects.size(), 200U);
    EXPECT_EQ(driver.connects[49].host, "node3001");
    EXPECT_EQ(driver.connects[64].host, "node3016");
    EXPECT_EQ(driver.connects[65].host, "node3017");
}

TEST(connect_pacing, timeouts_are_exact_to_a_tick_while_connections_wait_to_be_opened) {
    scripted_cluster cluster(most, most);
    let_the_others_hang(cluster);
    connected_driver driver(cluster);
    const time_point started = driver.now;
    std::vector<engine_driver::outcome_ptr> reads;
    for (std::size_t node = 100; node < 300; ++node) {
        auto request = driver.request(operation_kind::get, key_of(cluster, node));
        request.timeout = std::chrono::milliseconds{node};
        reads.push_back(driver.start(std::move(request)));
    }
    driver.advance(1s);
    for (std::size_t index = 0; index < reads.size(); ++index) {
        EXPECT_EQ(reads[index]->code(), errc::unambiguous_timeout);
        EXPECT_LE(reads[index]->at, started + std::chrono::milliseconds{101 + index});
    }
    // Nodes that do not answer do not delay the node that works.
    const auto stored = driver.settled(driver.upsert(key_of(cluster, 0), "v"));
    EXPECT_TRUE(stored->has_succeeded());
}

TEST(connect_pacing, a_place_is_free_again_when_a_connection_is_open_or_has_failed) {
    scripted_cluster cluster(40, 64);
    for (std::size_t index = 1; index < 20; ++index) {
        cluster.nodes[index].refuses_connections = true;
    }
    connected_driver driver(cluster, {{.connecting_count_max = 1}});
    driver.advance(10ms);
    EXPECT_EQ(driver.engine().statistics().connections_open, 21U);
    EXPECT_EQ(driver.connects.size(), 40U);
}

TEST(connect_pacing, a_node_that_leaves_does_not_keep_its_place_in_the_queue) {
    scripted_cluster cluster(40, 64);
    let_the_others_hang(cluster);
    connected_driver driver(cluster, {{.connecting_count_max = 4}});
    const std::size_t tried = driver.connects.size();
    EXPECT_EQ(tried, 4U);
    cluster.nodes.resize(1);
    cluster.map.assign(64, {0});
    ++cluster.revision.rev;
    driver.push_configuration(driver.connections_to(0).at(0), 0, false);
    driver.advance(10s);
    EXPECT_EQ(driver.connects.size(), tried);
}

// Without a usable connection, an operation for any node takes the place that is kept free.
TEST(connect_pacing, an_operation_for_any_node_opens_a_connection_that_waits_in_the_queue) {
    scripted_cluster cluster(40, 64);
    let_the_others_hang(cluster);
    connected_driver driver(cluster, {{.connecting_count_max = 4}});
    cluster.nodes[0].ignores_connections = true;
    driver.close_node(0);
    driver.settle();
    const std::size_t tried = driver.connects.size();
    driver.start(operation_kind::noop, "");
    driver.settle();
    EXPECT_EQ(driver.connects.size(), tried + 1);
}

TEST(connect_pacing, http_connections_share_the_places_and_all_are_opened) {
    scripted_cluster cluster(1, 4);
    cluster.nodes[0].services.set(wire::service::query, wire::transport::plain, 8093);
    cluster.answer_http({.body = R"({"results":[1],"status":"success"})"});
    connected_driver driver(cluster, {{.connecting_count_max = 2}});
    cluster.nodes[0].ignores_connections = true;
    std::vector<engine_driver::outcome_ptr> asked;
    for (int index = 0; index < 5; ++index) {
        asked.push_back(driver.start_http(query_request(R"({"statement":"SELECT 1"})")));
    }
    driver.advance(1s);
    EXPECT_EQ(driver.connects.size(), 3U);  // one for key-value, and two of five
    cluster.nodes[0].ignores_connections = false;
    driver.advance(5s);
    for (const auto& one : asked) {
        ASSERT_TRUE(one->has_succeeded()) << one->result.ec.message();
    }
}

}  // namespace reprise::engine::testing::connect_pacing_tests
