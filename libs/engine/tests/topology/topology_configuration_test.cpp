#include <gtest/gtest.h>

#include "engine_driver.hpp"

// Configurations: routing, applying, polling, pushes, wake-ups and reconnects.

namespace reprise::engine::testing::topology_tests {

std::uint16_t vbucket_in(const scripted_cluster& cluster, std::string_view key) {
    return wire::vbucket_of(key, cluster.map.size()).value;
}

// Refuses keys of other owners like a server, with the configuration in the answer if `with_body`.
scripted_cluster::hook owned_by(
    scripted_cluster& cluster, std::vector<std::size_t> owners, bool with_body) {
    return [&cluster, owners, with_body](const seen_request& seen) -> std::optional<answer> {
        const bool is_document = seen.op == opcode::get || seen.op == opcode::set;
        if (!is_document || owners[seen.vbucket] == seen.node) {
            return std::nullopt;
        }
        answer refusal{.status = status::not_my_vbucket};
        if (with_body) {
            refusal.value = cluster.configuration_text(seen.node);
            refusal.datatype = wire::datatype::json;
        }
        return refusal;
    };
}

TEST(topology, keys_go_to_the_nodes_that_own_them) {
    auto [cluster, driver] = connected_cluster(4, 64);
    for (int index = 0; index < 40; ++index) {
        driver.upsert("key_" + std::to_string(index), "v");
    }
    driver.advance(10ms);
    const auto stores = cluster.all(opcode::set);
    ASSERT_EQ(stores.size(), 40U);
    std::set<std::size_t> used;
    for (const seen_request& seen : stores) {
        EXPECT_EQ(seen.node, seen.vbucket % 4);
        EXPECT_EQ(seen.vbucket, vbucket_in(cluster, seen.key.substr(1)));
        used.insert(seen.node);
    }
    EXPECT_EQ(used.size(), 4U);
}

TEST(topology, VB_07_a_newer_configuration_in_the_answer_is_applied_and_used_at_once) {
    auto [cluster, driver] = connected_cluster(2, 4);
    driver.advance(100ms);
    const std::size_t polls = cluster.count(opcode::get_cluster_config);
    cluster.revision.rev = 11;
    for (auto& row : cluster.map) {
        row[0] = static_cast<std::int16_t>(1 - row[0]);
    }
    cluster.on_request = owned_by(cluster, {1, 0, 1, 0}, true);
    const time_point started = driver.now;
    const auto stored = driver.after(40ms, driver.upsert("k", "v"));
    EXPECT_TRUE(stored->has_succeeded());
    EXPECT_EQ(stored->at, started);
    EXPECT_EQ(stored->result.retry_attempts, 1U);
    EXPECT_EQ(driver.engine().configuration("travel")->revision().rev, 11);
    EXPECT_EQ(cluster.count(opcode::get_cluster_config), polls) << "nothing is left to ask for";
}

TEST(topology, VB_07_the_epoch_counts_before_the_revision) {
    auto [cluster, driver] = connected_node();
    cluster.revision = {cluster.revision.epoch + 1, 1};
    driver.push_configuration_of(0);
    const auto newest = driver.engine().configuration("travel")->revision();
    EXPECT_EQ(newest, cluster.revision);
    cluster.revision = {newest.epoch - 1, 1000};
    driver.push_configuration_of(0);
    EXPECT_EQ(driver.engine().configuration("travel")->revision(), newest);
}

TEST(topology, VB_07_an_empty_answer_triggers_one_fetch_of_the_new_map) {
    auto [cluster, driver] = connected_cluster(2, 4);
    driver.advance(100ms);
    const std::size_t polls = cluster.count(opcode::get_cluster_config);
    cluster.revision.rev = 11;
    for (auto& row : cluster.map) {
        row[0] = static_cast<std::int16_t>(1 - row[0]);
    }
    cluster.on_request = owned_by(cluster, {1, 0, 1, 0}, false);
    const auto stored = driver.after(40ms, driver.upsert_many(20, "key"));
    for (const auto& one : stored) {
        ASSERT_TRUE(one->has_succeeded());
        EXPECT_EQ(one->result.retry_attempts, 1U);
    }
    EXPECT_EQ(cluster.count(opcode::get_cluster_config), polls + 1);
}

TEST(topology, VB_07_an_older_configuration_in_the_answer_triggers_a_fetch) {
    scripted_cluster cluster(2, 4);
    cluster.revision.rev = 9;
    const std::string older = cluster.configuration_text(0);
    cluster.revision.rev = 10;
    connected_driver driver(cluster);
    driver.advance(100ms);
    const std::size_t polls = cluster.count(opcode::get_cluster_config);
    cluster.revision.rev = 11;
    for (auto& row : cluster.map) {
        row[0] = static_cast<std::int16_t>(1 - row[0]);
    }
    cluster.on_request = [&](const seen_request& seen) -> std::optional<answer> {
        const bool is_refused = seen.op == opcode::set && (seen.vbucket % 2 == seen.node);
        answer refusal{.status = status::not_my_vbucket, .value = older};
        refusal.datatype = wire::datatype::json;
        return is_refused ? std::optional(refusal) : std::nullopt;
    };
    const time_point started = driver.now;
    const auto stored = driver.after(40ms, driver.upsert("k", "v"));
    EXPECT_EQ(cluster.count(opcode::get_cluster_config), polls + 1);
    EXPECT_TRUE(stored->has_succeeded());
    EXPECT_EQ(stored->at, started) << "the fetched configuration wakes it";
    EXPECT_EQ(driver.engine().configuration("travel")->revision().rev, 11);
}

TEST(topology, VB_02_the_forward_map_is_tried_without_delay_and_the_next_wait_is_the_second_step) {
    scripted_cluster cluster(3, 1);
    cluster.map = {{0}};
    cluster.forward_map = {{1}};
    connected_driver driver(cluster);
    driver.advance(100ms);
    cluster.on_request = owned_by(cluster, {2}, false);
    driver.upsert("k", "v");
    driver.advance(30ms);
    const auto stores = cluster.all(opcode::set);
    ASSERT_EQ(stores.size(), 3U);
    EXPECT_EQ(stores[0].node, 0U);
    EXPECT_EQ(stores[1].node, 1U);
    EXPECT_EQ(stores[1].at, stores[0].at);
    EXPECT_EQ(stores[2].node, 1U);
    EXPECT_EQ(stores[2].at - stores[1].at, 10ms);
}

TEST(topology, VB_02_the_next_operation_starts_with_the_current_map_again) {
    scripted_cluster cluster(2, 1);
    cluster.map = {{0}};
    cluster.forward_map = {{1}};
    connected_driver driver(cluster);
    driver.advance(100ms);
    cluster.on_request = owned_by(cluster, {1}, false);
    for (int round = 0; round < 2; ++round) {
        const auto stored = driver.settled(driver.upsert("k", "v"));
        ASSERT_EQ(stored->calls, 1);
        EXPECT_EQ(stored->result.retry_attempts, 1U);
    }
    const auto stores = cluster.all(opcode::set);
    ASSERT_EQ(stores.size(), 4U);
    EXPECT_EQ(stores[2].node, 0U);
    EXPECT_EQ(stores[3].node, 1U);
}

TEST(topology, VB_03_after_a_new_revision_the_current_map_comes_first_again) {
    scripted_cluster cluster(3, 1);
    cluster.map = {{0}};
    cluster.forward_map = {{1}};
    connected_driver driver(cluster);
    driver.advance(100ms);
    cluster.on_request = owned_by(cluster, {2}, false);
    const auto stored = driver.after(20ms, driver.upsert("k", "v"));
    cluster.revision.rev = 11;
    cluster.map = {{2}};
    driver.push_configuration_of(0);
    EXPECT_TRUE(stored->has_succeeded());
    EXPECT_EQ(cluster.all(opcode::set).back().node, 2U);
}

TEST(topology, VB_06_a_new_revision_wakes_all_parked_requests_within_the_credit) {
    scripted_cluster cluster(2, 4);
    engine_options options;
    options.pipeline_credit = 8;
    connected_driver driver(cluster, options);
    driver.advance(100ms);
    cluster.on_request = owned_by(cluster, {5, 5, 5, 5}, false);
    const auto stored = driver.after(700ms, driver.upsert_many(100, "key"));
    EXPECT_EQ(driver.engine().statistics().operations_parked, 100U);
    cluster.revision.rev = 11;
    std::size_t most = 0;
    cluster.on_request = [&](const seen_request&) -> std::optional<answer> {
        most = std::max(most, driver.engine().statistics().operations_on_wire);
        return std::nullopt;
    };
    const std::uint64_t retries = driver.engine().statistics().retries;
    driver.push_configuration_of(0);
    for (const auto& one : stored) {
        EXPECT_TRUE(one->has_succeeded());
    }
    // The woken send is the pending retry, and there is no burst beyond the credit of two
    // connections.
    EXPECT_EQ(driver.engine().statistics().retries, retries);
    EXPECT_LE(most, 16U);
}

TEST(topology, RH_13_VB_06_a_capped_request_is_woken_by_the_end_of_its_cause) {
    auto [cluster, driver] = connected_cluster(2, 4);
    cluster.on_request = owned_by(cluster, {5, 5, 5, 5}, false);
    auto request = driver.request(operation_kind::upsert, "k", "v");
    request.timeout = 400ms;
    const auto stored = driver.after(300ms, driver.start(std::move(request)));
    cluster.on_request = nullptr;
    cluster.revision.rev = 11;
    driver.push_configuration_of(0);
    EXPECT_TRUE(stored->has_succeeded());
}

TEST(topology, VB_08_a_key_without_an_owner_waits_as_node_not_available) {
    scripted_cluster cluster(1, 1);
    cluster.map = {{-1}};
    engine_driver driver(cluster);
    const auto read = driver.after(100ms, driver.get("k"));
    EXPECT_EQ(read->calls, 0);
    cluster.revision.rev = 11;
    cluster.map = {{0}};
    driver.push_configuration_of(0);
    ASSERT_EQ(read->code(), errc::document_not_found);
    EXPECT_TRUE(read->result.error->retry_reasons.contains(retry_reason::node_not_available));
    EXPECT_EQ(read->result.error->retry_reasons.size(), 1U);
}

TEST(topology, VB_09_older_foreign_and_malformed_configurations_are_refused_without_harm) {
    auto [cluster, driver] = connected_node();
    const connection_id connection = driver.connections_to(0).at(0);
    const auto before = driver.engine().configuration("travel");
    ASSERT_NE(before, nullptr);
    cluster.revision = {1, 9};
    driver.push_configuration(connection, 0, false);
    cluster.revision = {0, 99};
    driver.push_configuration(connection, 0, false);
    const std::string older = cluster.configuration_text(0);
    cluster.revision = {2, 1};
    // Announced as newer, but what the fetch returns is older.
    for (const std::string& text : {older, std::string(R"({"rev":12,"name":"travel"})")}) {
        cluster.nodes[0].configuration_text = text;
        driver.push_configuration(connection, 0, true);
        driver.advance(100ms);
    }
    cluster.bucket = "other";
    cluster.nodes[0].configuration_text = cluster.configuration_text(0);
    cluster.bucket = "travel";
    driver.push_configuration(connection, 0, true);
    driver.advance(100ms);
    EXPECT_EQ(driver.engine().configuration("travel"), before);
    EXPECT_EQ(driver.engine().statistics().configurations_refused, 5U);
    EXPECT_EQ(driver.engine().statistics().connections_open, 1U);
}

TEST(topology, a_brief_push_is_followed_by_a_fetch) {
    auto [cluster, driver] = connected_node();
    driver.advance(100ms);
    const std::size_t polls = cluster.count(opcode::get_cluster_config);
    driver.push_configuration(driver.connections_to(0).at(0), 0, true);
    driver.settle();
    EXPECT_EQ(cluster.count(opcode::get_cluster_config), polls);
    cluster.revision.rev = 20;
    driver.push_configuration(driver.connections_to(0).at(0), 0, true);
    driver.settle();
    EXPECT_EQ(cluster.count(opcode::get_cluster_config), polls + 1);
    EXPECT_EQ(driver.engine().configuration("travel")->revision().rev, 20);
}

TEST(topology, configurations_are_polled_at_the_interval_in_turn_and_never_below_the_floor) {
    auto [cluster, driver] = connected_cluster(2);
    const std::size_t bootstraps = cluster.count(opcode::get_cluster_config);
    driver.advance(10s);
    const auto polls = cluster.all(opcode::get_cluster_config);
    ASSERT_EQ(polls.size(), bootstraps + 4);
    EXPECT_NE(polls[bootstraps].node, polls[bootstraps + 1].node);
    // Not-my-vbucket without a body requests a configuration each time.
    cluster.on_request = owned_by(cluster, {5, 5, 5, 5}, false);
    for (int index = 0; index < 50; ++index) {
        driver.get("key" + std::to_string(index));
        driver.advance(2ms);
    }
    EXPECT_LE(cluster.count(opcode::get_cluster_config), polls.size() + 3);
}

TEST(topology, a_node_that_leaves_is_closed_after_its_answers_and_a_new_one_is_used) {
    scripted_cluster cluster(3, 2);
    cluster.map = {{0}, {1}};
    connected_driver driver(cluster);
    driver.advance(10ms);
    EXPECT_EQ(driver.engine().statistics().connections_open, 3U);
    cluster.answer_where(
        [](const seen_request& seen) { return seen.op == opcode::set && seen.node == 2U; },
        {.is_silent = true});
    cluster.data_node_count = 2;
    cluster.revision.rev = 11;
    driver.push_configuration_of(0);
    EXPECT_EQ(driver.engine().statistics().connections_open, 2U);
    EXPECT_TRUE(driver.connections_to(2).empty());
    cluster.data_node_count = 3;
    cluster.revision.rev = 12;
    driver.push_configuration_of(0);
    EXPECT_EQ(driver.engine().statistics().connections_open, 3U);
}

TEST(topology, requests_on_the_wire_of_a_leaving_node_still_get_their_answers) {
    scripted_cluster cluster(2, 1);
    cluster.map = {{1}};
    connected_driver driver(cluster);
    driver.advance(10ms);
    std::optional<seen_request> held;
    cluster.on_request = [&](const seen_request& seen) -> std::optional<answer> {
        if (seen.op == opcode::set) {
            held = seen;
            return answer{.is_silent = true};
        }
        return std::nullopt;
    };
    const auto stored = driver.settled(driver.upsert("k", "v"));
    ASSERT_TRUE(held.has_value());
    cluster.map = {{0}};
    cluster.data_node_count = 1;
    cluster.revision.rev = 11;
    driver.push_configuration_of(0);
    ASSERT_EQ(driver.connections_to(1).size(), 1U);
    driver.send(
        held->connection,
        encoded(wire::mutation_response{}, header_for(held->opaque, opcode::set)));
    driver.settle();
    EXPECT_TRUE(stored->has_succeeded());
    EXPECT_TRUE(driver.connections_to(1).empty());
}

TEST(topology, reconnects_to_a_dead_node_back_off_with_jitter) {
    auto [cluster, driver] = connected_node();
    cluster.nodes[0].refuses_connections = true;
    driver.close_node(0);
    driver.advance(20s);
    // Doubling from 50 ms to 5 s: about ten attempts in 20 s, not hundreds.
    EXPECT_GE(driver.connects.size(), 8U);
    EXPECT_LE(driver.connects.size(), 16U);
    cluster.nodes[0].refuses_connections = false;
    driver.advance(5s);
    EXPECT_EQ(driver.engine().statistics().connections_open, 1U);
}

TEST(topology, several_connections_per_node_share_the_load) {
    auto [cluster, driver] = connected_node({{.kv_connections_per_node = 3}});
    driver.advance(10ms);
    EXPECT_EQ(driver.engine().statistics().connections_open, 3U);
    std::vector<engine_driver::outcome_ptr> reads;
    for (int index = 0; index < 9; ++index) {
        reads.push_back(driver.get("k" + std::to_string(index)));
    }
    driver.settle();
    std::set<connection_id> used;
    for (const seen_request& seen : cluster.all(opcode::get)) {
        used.insert(seen.connection);
    }
    EXPECT_EQ(used.size(), 3U);
}

TEST(topology, EM_03_a_map_is_kept_as_long_as_any_connection_to_its_node) {
    auto [cluster, driver] = connected_node();
    const auto failing = [](const seen_request& seen) -> std::optional<answer> {
        return seen.op == opcode::get ? std::optional(answer{.status = static_cast<status>(0x7ff1)})
                                      : std::nullopt;
    };
    cluster.on_request = failing;
    const auto known = driver.settled(driver.get("k"));
    EXPECT_TRUE(known->result.error->error_map.has_value());
    // All connections are gone and the next one gets no map, so the old map is dropped.
    cluster.nodes[0].error_map_status = status::not_supported;
    driver.close_node(0);
    driver.advance(1s);
    const auto unknown = driver.settled(driver.get("k"));
    ASSERT_EQ(unknown->code(), errc::unknown_server_status);
    EXPECT_FALSE(unknown->result.error->error_map.has_value());
}

TEST(topology, EM_03_the_highest_revision_of_a_format_wins_while_connections_are_open) {
    scripted_cluster cluster(1);
    const auto map_of = [](int version, int revision) {
        return R"({"version":)" + std::to_string(version) + R"(,"revision":)" +
               std::to_string(revision) + R"(,"errors":{"7ff1":{"name":"OF_)" +
               std::to_string(version) + "_" + std::to_string(revision) +
               R"(","desc":"d","attrs":["temp"]}}})";
    };
    engine_options options;
    options.kv_connections_per_node = 2;
    cluster.nodes[0].error_map_text = map_of(2, 5);
    connected_driver driver(cluster, options);
    const auto name_now = [&] {
        cluster.answer_all(opcode::get, {.status = static_cast<status>(0x7ff1)});
        const auto read = driver.settled(driver.get("k"));
        return read->result.error->error_map ? read->result.error->error_map->name : "none";
    };
    const auto reconnect_one = [&](std::string text) {
        cluster.nodes[0].error_map_text = std::move(text);
        ASSERT_EQ(driver.connections_to(0).size(), 2U);
        driver.close_peer(driver.connections_to(0).front());
        driver.advance(6s);
        ASSERT_EQ(driver.connections_to(0).size(), 2U);
    };
    EXPECT_EQ(name_now(), "OF_2_5");
    reconnect_one(map_of(2, 4));
    EXPECT_EQ(name_now(), "OF_2_5");
    reconnect_one(map_of(2, 6));
    EXPECT_EQ(name_now(), "OF_2_6");
    // Revisions of another format are counted separately.
    reconnect_one(map_of(1, 9));
    EXPECT_EQ(name_now(), "OF_2_6");
    // All connections are gone, so the next map is accepted whatever its revision.
    cluster.nodes[0].error_map_text = map_of(2, 1);
    driver.close_node(0);
    driver.advance(6s);
    EXPECT_EQ(name_now(), "OF_2_1");
}

TEST(topology, EM_03_nodes_may_have_different_maps) {
    scripted_cluster cluster(2, 2);
    cluster.nodes[0].error_map_text =
        R"({"version":2,"revision":1,"errors":{)"
        R"("7ff1":{"name":"FIRST","desc":"d","attrs":["retry-now"]}}})";
    cluster.nodes[1].error_map_text = R"({"version":2,"revision":7,"errors":{)"
                                      R"("7ff1":{"name":"SECOND","desc":"d","attrs":["temp"]}}})";
    connected_driver driver(cluster);
    cluster.answer_all(opcode::get, {.status = static_cast<status>(0x7ff1)});
    std::vector<engine_driver::outcome_ptr> reads;
    for (std::uint16_t vbucket = 0; vbucket < 2; ++vbucket) {
        std::string key = "k";
        while (wire::vbucket_of(key, 2).value != vbucket) {
            key += "k";
        }
        reads.push_back(driver.get(key));
    }
    driver.advance(100ms);
    // The first node asks for retries, the second one does not.
    EXPECT_EQ(reads[0]->calls, 0);
    ASSERT_EQ(reads[1]->calls, 1);
    EXPECT_EQ(reads[1]->result.error->error_map->name, "SECOND");
    driver.advance(3s);
    EXPECT_EQ(reads[0]->code(), errc::unambiguous_timeout);
}

TEST(topology, a_bucket_without_vbuckets_is_refused_by_name) {
    scripted_cluster cluster(1);
    cluster.nodes[0].configuration_text =
        R"({"rev":5,"name":"travel","nodeLocator":"ketama","nodes":[{"hostname":"node1:8091"}],)"
        R"("nodesExt":[{"services":{"kv":11210,"mgmt":8091},"hostname":"node1"}]})";
    engine_driver driver(cluster);
    for (const operation_kind kind : {operation_kind::get, operation_kind::noop}) {
        const std::string_view key = kind == operation_kind::noop ? "" : "k";
        const auto asked = driver.after(100ms, driver.start(kind, key));
        EXPECT_EQ(asked->code(), errc::feature_not_available);
    }
}

}  // namespace reprise::engine::testing::topology_tests
