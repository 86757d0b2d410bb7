#include <gtest/gtest.h>

#include "engine_driver.hpp"

// A terminal state reaches requests that wait for something other than a connection.

namespace reprise::engine::testing::terminal_wake_tests {

// The only node closes its connection and refuses the credentials from then on, while `waiting`
// still has a long delay ahead.
void expect_refusal_in_time(
    engine_driver& driver, const engine_driver::outcome_ptr& waiting, std::string_view what) {
    driver.advance(700ms);  // 1, 10, 50, 100, 500 ms are over; the wait is 1 s now
    ASSERT_EQ(waiting->calls, 0) << what;
    driver.cluster.nodes[0].sasl_status = status::auth_error;
    driver.close_node(0);
    driver.advance(300ms);
    const auto refused = driver.cluster.all(opcode::sasl_auth);
    ASSERT_GE(refused.size(), 2U) << what;
    driver.advance(refused[1].at + 500ms - driver.now);
    ASSERT_EQ(waiting->code(), errc::authentication_failure) << what << what;
    EXPECT_EQ(waiting->result.error->last_reason, retry_reason::authentication_error) << what;
}

engine_options patient() {
    engine_options options;
    options.kv_timeout = 10s;
    return options;
}

std::string key_of(std::uint16_t vbucket) {
    std::string key = "k";
    while (wire::vbucket_of(key, 2).value != vbucket) {
        key += "k";
    }
    return key;
}

TEST(terminal_wake, RH_38_a_request_parked_by_not_my_vbucket_fails_within_500_ms) {
    auto [cluster, driver] = connected_node(patient());
    cluster.answer_all(opcode::set, {.status = status::not_my_vbucket});
    expect_refusal_in_time(driver, driver.upsert("k", "v"), "not my vbucket");
}

TEST(terminal_wake, RH_38_a_request_parked_by_an_outdated_collection_fails_within_500_ms) {
    scripted_cluster cluster(1);
    cluster.collections["s.c"] = 9;
    connected_driver driver(cluster, patient());
    cluster.answer_all(opcode::set, {.status = status::unknown_collection});
    expect_refusal_in_time(
        driver, driver.start(operation_kind::upsert, "k", "v", "s", "c"), "collection outdated");
}

TEST(terminal_wake, RH_38_a_request_waiting_for_a_collection_id_fails_within_500_ms) {
    scripted_cluster cluster(1);
    cluster.manifest_uid = 8;
    connected_driver driver(cluster, patient());
    // Older than the manifest of the configuration: the client keeps asking.
    answer stale{.status = status::unknown_collection, .value = R"({"manifest_uid":"3"})"};
    stale.datatype = wire::datatype::json;
    cluster.answer_all(opcode::get_collection_id, stale);
    expect_refusal_in_time(
        driver, driver.start(operation_kind::upsert, "k", "v", "s", "c"), "collection id");
}

TEST(terminal_wake, RH_38_requests_in_a_backoff_after_an_answer_fail_within_500_ms) {
    for (const status code : {status::locked, status::etmpfail}) {
        auto [cluster, driver] = connected_node(patient());
        cluster.answer_all(opcode::set, {.status = code});
        expect_refusal_in_time(driver, driver.upsert("k", "v"), "backoff");
    }
}

TEST(terminal_wake, RH_38_a_request_for_a_node_that_is_still_connecting_fails_within_500_ms) {
    scripted_cluster cluster(2, 2);
    cluster.nodes[1].ignores_connections = true;
    connected_driver driver(cluster);
    const auto waiting = driver.after(100ms, driver.upsert(key_of(1), "v"));
    ASSERT_EQ(waiting->calls, 0);
    cluster.nodes[0].sasl_status = status::auth_error;
    driver.close_node(0);
    driver.advance(100ms);
    const auto refused = cluster.all(opcode::sasl_auth);
    ASSERT_GE(refused.size(), 2U);
    driver.advance(refused[1].at + 500ms - driver.now);
    EXPECT_EQ(waiting->code(), errc::authentication_failure);
}

TEST(terminal_wake, RH_25_RH_38_a_parked_request_with_a_usable_connection_keeps_its_times) {
    scripted_cluster cluster(2, 2);
    connected_driver driver(cluster, patient());
    cluster.answer_all(opcode::set, {.status = status::not_my_vbucket});
    const auto waiting = driver.after(700ms, driver.upsert(key_of(0), "v"));
    cluster.nodes[1].sasl_status = status::auth_error;
    driver.close_node(1);
    driver.advance(1s);
    EXPECT_EQ(waiting->calls, 0);
    const auto sent = cluster.all(opcode::set);
    ASSERT_EQ(sent.size(), 7U);
    EXPECT_EQ(sent[6].at - sent[5].at, 1s);
}

TEST(terminal_wake, RH_25_the_state_is_dropped_with_its_node) {
    scripted_cluster cluster(2, 2);
    cluster.nodes[1].sasl_status = status::auth_error;
    connected_driver driver(cluster);
    driver.advance(100ms);
    const auto refused = driver.settled(driver.get(key_of(1)));
    EXPECT_EQ(refused->code(), errc::authentication_failure);
    cluster.map = {{0}, {0}};
    cluster.data_node_count = 1;
    cluster.revision.rev = 11;
    driver.push_configuration_of(0);
    // Nothing can be dispatched now, and no node refuses the credentials any more.
    cluster.nodes[0].refuses_connections = true;
    driver.close_node(0);
    driver.advance(100ms);
    const auto waiting = driver.after(1s, driver.get(key_of(1)));
    EXPECT_EQ(waiting->calls, 0);
    driver.advance(2s);
    ASSERT_EQ(waiting->code(), errc::unambiguous_timeout);
    EXPECT_FALSE(waiting->result.error->retry_reasons.contains(retry_reason::authentication_error));
    EXPECT_TRUE(waiting->result.error->retry_reasons.contains(retry_reason::node_not_available));
}

TEST(terminal_wake, RH_25_RH_40_a_refused_bearer_token_is_an_authentication_failure) {
    scripted_cluster cluster(1);
    cluster.nodes[0].mechanisms = "SCRAM-SHA512 OAUTHBEARER PLAIN";
    cluster.nodes[0].sasl_status = status::auth_error;
    engine_options options;
    options.transport = wire::transport::tls;
    engine_driver driver(cluster, options);
    driver.identity = {};
    driver.identity.bearer_token = "header.payload.signature";
    const time_point started = driver.now;
    const auto read = driver.after(1s, driver.get("k"));
    EXPECT_EQ(read->code(), errc::authentication_failure);
    EXPECT_LE(read->at - started, 500ms);
    ASSERT_FALSE(cluster.all(opcode::sasl_auth).empty());
    EXPECT_EQ(cluster.all(opcode::sasl_auth)[0].key, "OAUTHBEARER");
}

TEST(terminal_wake, RH_15_without_any_data_node_the_reason_is_service_not_available) {
    scripted_cluster cluster(1);
    // A configuration without a data port on any node.
    cluster.nodes[0].configuration_text =
        R"({"revEpoch":1,"rev":10,"name":"travel","nodeLocator":"vbucket",)"
        R"("vBucketServerMap":{"hashAlgorithm":"CRC","numReplicas":0,)"
        R"("serverList":["node1:11210"],"vBucketMap":[[0],[0],[0],[0]]},)"
        R"("nodesExt":[{"services":{"mgmt":8091,"n1ql":8093},"hostname":"node1"}]})";
    engine_driver driver(cluster);
    const auto stored = driver.after(3s, driver.upsert("k", "v"));
    ASSERT_EQ(stored->calls, 1);
    // Retried although it is a write, because nothing was sent.
    EXPECT_EQ(stored->result.ec, errc::unambiguous_timeout);
    EXPECT_EQ(stored->result.error->last_reason, retry_reason::service_not_available);
    EXPECT_GT(stored->result.retry_attempts, 1U);
    EXPECT_EQ(cluster.count(opcode::set), 0U);
    EXPECT_EQ(stored->result.history->entries.back().stage(), attempt_stage::dispatch);
}

}  // namespace reprise::engine::testing::terminal_wake_tests
