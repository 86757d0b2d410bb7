#include <gtest/gtest.h>

#include "engine_driver.hpp"

// Clusters that are large, half dead, wrongly addressed or shrinking.

namespace reprise::engine::testing::many_nodes_tests {

std::size_t vbucket_of_key(std::string_view key, const scripted_cluster& cluster) {
    return wire::vbucket_of(key, cluster.map.size()).value;
}

TEST(many_nodes, RH_15_of_64_nodes_half_are_down_and_only_their_keys_wait) {
    scripted_cluster cluster(64, 64);
    for (std::size_t index = 1; index < 64; index += 2) {
        cluster.nodes[index].refuses_connections = true;
    }
    connected_driver driver(cluster);
    driver.advance(10s);
    EXPECT_EQ(driver.engine().statistics().connections_open, 32U);
    // Delays double up to 5 s: about nine attempts for each dead node in 10 s.
    EXPECT_LE(driver.connects.size(), 32U + 32U * 11U);
    std::vector<engine_driver::outcome_ptr> stored;
    std::vector<bool> is_dead;
    for (int index = 0; index < 640; ++index) {
        const std::string key = "key" + std::to_string(index);
        is_dead.push_back(vbucket_of_key(key, cluster) % 2 == 1);
        auto request = driver.request(operation_kind::upsert, key, "v");
        request.timeout = 30s;
        stored.push_back(driver.start(std::move(request)));
    }
    driver.settle();
    for (std::size_t index = 0; index < stored.size(); ++index) {
        ASSERT_EQ(stored[index]->calls, is_dead[index] ? 0 : 1);
    }
    for (scripted_node& node : cluster.nodes) {
        node.refuses_connections = false;
    }
    driver.advance(5s);  // the longest delay
    EXPECT_EQ(driver.engine().statistics().connections_open, 64U);
    for (std::size_t index = 0; index < stored.size(); ++index) {
        ASSERT_TRUE(stored[index]->has_succeeded());
        if (is_dead[index]) {
            const auto& entries = stored[index]->result.history->entries;
            EXPECT_EQ(entries[0].reason_as<retry_reason>(), retry_reason::node_not_available);
            EXPECT_EQ(entries[0].stage(), attempt_stage::dispatch);
        }
    }
    EXPECT_EQ(driver.server.applied_writes, 640U);
}

TEST(many_nodes, RH_15_with_wrong_seeds_operations_time_out_until_the_name_is_fixed) {
    scripted_cluster cluster(1);
    engine_options options;
    options.seeds = {{"nowhere1", 11210}, {"nowhere2", 11210}};
    engine_driver driver(cluster, options);
    const auto read = driver.after(2500ms, driver.get("k"));
    ASSERT_EQ(read->code(), errc::unambiguous_timeout);
    EXPECT_EQ(read->result.error->last_reason, retry_reason::node_not_available);
    EXPECT_EQ(read->result.error->last_dispatched_to, "");
    driver.advance(60s);
    EXPECT_LE(driver.connects.size(), 60U);
    cluster.nodes[0].host = "nowhere2";  // the name is fixed
    driver.advance(5s);
    const auto found = driver.settled(driver.get("k"));
    EXPECT_EQ(found->code(), errc::document_not_found);
}

TEST(many_nodes, VB_07_a_configuration_that_shrinks_to_one_node_moves_every_operation_to_it) {
    auto [cluster, driver] = connected_cluster(4, 4);
    driver.advance(10ms);
    scripted_cluster small(1, 4);
    small.revision = {1, 11};
    const std::string configuration = small.configuration_text(0);
    cluster.on_request = [configuration](const seen_request& seen) -> std::optional<answer> {
        if (seen.op != opcode::set || seen.node == 0) {
            return std::nullopt;
        }
        return answer{
            .status = status::not_my_vbucket,
            .value = configuration,
            .datatype = wire::datatype::json};
    };
    const auto stored = driver.settled(driver.upsert_many(100, "key"));
    for (const auto& one : stored) {
        ASSERT_TRUE(one->has_succeeded());
    }
    EXPECT_EQ(driver.engine().statistics().connections_open, 1U);
    EXPECT_EQ(driver.engine().configuration(cluster.bucket)->nodes().size(), 1U);
    driver.advance(10s);
    EXPECT_EQ(driver.connects.size(), 4U) << "the client does not reconnect to nodes that left";
}

TEST(many_nodes, a_node_that_was_up_for_long_is_reconnected_at_once_and_a_flapping_one_is_not) {
    auto [cluster, driver] = connected_node();
    driver.advance(10s);
    driver.close_node(0);
    driver.settle();
    EXPECT_EQ(driver.connects.size(), 2U);
    for (int round = 0; round < 6; ++round) {
        driver.close_node(0);
        driver.advance(500ms);
    }
    // Equal jitter: at least half of 50, 100, 200, ... ms before each attempt.
    EXPECT_GE(driver.connects.size(), 5U);
    EXPECT_LE(driver.connects.size(), 8U);
    const std::size_t before = driver.connects.size();
    driver.close_node(0);
    driver.settle();
    EXPECT_EQ(driver.connects.size(), before);
    driver.advance(1min);
    driver.close_node(0);
    driver.settle();
    EXPECT_EQ(driver.connects.size(), before + 2) << "it was up for long again";
    driver.close_node(0);
    driver.advance(50ms);
    EXPECT_EQ(driver.connects.size(), before + 3) << "earlier failures no longer count";
}

TEST(many_nodes, a_new_configuration_of_a_new_connection_wakes_operations_once) {
    class hour_strategy final : public driver::retry_strategy {
    public:
        int asked = 0;
        void retry_after(const driver::retry_question&, driver::retry_sink& sink) override {
            ++asked;
            sink.answer(driver::retry_action::after(1h));
        }
    };
    scripted_cluster cluster(1);
    cluster.map.assign(cluster.map.size(), {-1});  // no vbucket has an owner
    connected_driver driver(cluster);
    const auto strategy = std::make_shared<hour_strategy>();
    auto request = driver.request(operation_kind::get, "k");
    request.terms().strategy = strategy;
    request.timeout = 1h;
    const auto waiting = driver.after(10ms, driver.start(std::move(request)));
    EXPECT_EQ(strategy->asked, 1);
    ++cluster.revision.rev;
    driver.close_node(0);
    driver.advance(1s);
    EXPECT_EQ(driver.engine().statistics().connections_open, 1U);
    EXPECT_EQ(strategy->asked, 2) << "for the configuration, not for the connection as well";
    EXPECT_EQ(waiting->calls, 0);
}

TEST(many_nodes, VB_06_woken_operations_never_become_socket_not_available) {
    scripted_cluster cluster(2, 4);
    engine_options options;
    options.pipeline_credit = 1;
    options.ready_count_max = 2;
    engine_driver driver(cluster, options);
    cluster.nodes[0].ignores_connections = true;
    cluster.nodes[1].ignores_connections = true;
    const auto stored = driver.settled(driver.upsert_many(50, "key"));
    cluster.nodes[0].ignores_connections = false;
    cluster.nodes[1].ignores_connections = false;
    driver.advance(2400ms);
    for (const auto& one : stored) {
        ASSERT_TRUE(one->has_succeeded());
        if (one->result.history) {
            for (std::size_t index = 0; index < one->result.history->entries.size(); ++index) {
                EXPECT_NE(
                    one->result.history->entries[index].reason_as<retry_reason>(),
                    retry_reason::socket_not_available);
            }
        }
    }
}

}  // namespace reprise::engine::testing::many_nodes_tests
