#include <gtest/gtest.h>

#include "engine_driver.hpp"

// Peers that died without closing their connections, and how clients reconnect to them.

namespace reprise::engine::testing::dead_peers_tests {

// The times of the attempts to reconnect, counted from the loss.
std::vector<duration> reconnect_times(std::uint64_t seed) {
    auto [cluster, driver] = unconnected_node();
    driver.seed = seed;
    driver.connect();
    cluster.nodes[0].refuses_connections = true;
    const time_point lost = driver.now;
    driver.close_node(0);
    std::vector<duration> times;
    for (std::size_t seen = 1; times.size() < 8;) {
        driver.advance(1ms);
        if (driver.connects.size() > seen) {
            seen = driver.connects.size();
            times.push_back(driver.now - lost);
        }
    }
    return times;
}

TEST(dead_peers, RH_16_reads_move_on_and_writes_are_ambiguous_when_a_peer_stops_answering) {
    scripted_cluster cluster(1);
    engine_options options;
    options.kv_timeout = 20s;
    connected_driver driver(cluster, options);
    cluster.nodes[0].is_silent = true;
    const time_point started = driver.now;
    const auto read = driver.get("k");
    const auto stored = driver.after(2999ms, driver.upsert("k", "v"));
    EXPECT_EQ(stored->calls, 0);
    cluster.nodes[0].is_silent = false;
    driver.advance(1s);
    ASSERT_EQ(stored->code(), errc::request_canceled);
    EXPECT_TRUE(stored->result.error->is_ambiguous);
    EXPECT_EQ(stored->at - started, options.probe_after + options.probe_timeout);
    EXPECT_EQ(read->code(), errc::document_not_found);
    EXPECT_EQ(cluster.count(opcode::set), 1U) << "never sent again";
}

TEST(dead_peers, a_dead_connection_is_detected_although_its_only_request_has_timed_out) {
    auto [cluster, driver] = connected_node();
    driver.advance(1s);
    cluster.nodes[0].is_silent = true;
    const auto read = driver.after(2500ms, driver.get("k"));
    EXPECT_EQ(read->code(), errc::unambiguous_timeout);
    EXPECT_TRUE(driver.closes.empty());
    driver.advance(500ms);
    EXPECT_EQ(driver.closes.size(), 1U);
    cluster.nodes[0].is_silent = false;
    driver.advance(15s);
    const auto again = driver.settled(driver.get("k"));
    EXPECT_EQ(again->calls, 1);
}

TEST(dead_peers, an_idle_connection_is_not_probed) {
    auto [cluster, driver] = connected_node();
    driver.get("k");
    driver.advance(30s);
    EXPECT_EQ(cluster.count(opcode::noop), 0U);
}

TEST(dead_peers, reconnects_double_with_equal_jitter_and_clients_do_not_march_in_step) {
    const auto one = reconnect_times(1);
    const auto other = reconnect_times(2);
    EXPECT_EQ(one, reconnect_times(1)) << "the same seed, the same times";
    std::size_t different = 0;
    duration before{};
    for (std::size_t index = 0; index < one.size(); ++index) {
        different += one[index] != other[index] ? 1U : 0U;
        const duration whole = std::min<duration>(5s, 50ms * (1 << index));
        EXPECT_GE(one[index] - before, whole / 2 - 1ms) << index;
        EXPECT_LE(one[index] - before, whole + 1ms) << index;
        before = one[index];
    }
    EXPECT_GE(different, 6U);
}

}  // namespace reprise::engine::testing::dead_peers_tests
