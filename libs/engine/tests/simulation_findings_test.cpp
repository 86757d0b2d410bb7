#include <gtest/gtest.h>

#include "engine_driver.hpp"

// Bugs that simulated runs (testbed/sim) have found, each in its smallest form and with the number
// of its seed.

namespace reprise::engine::testing::simulation_findings_tests {

// Best effort that always waits for half a second and counts the questions.
std::shared_ptr<driver::retry_strategy> counting(std::shared_ptr<int> asked) {
    return std::make_shared<best_effort_strategy>(
        [asked = std::move(asked)](std::uint32_t, std::uint64_t) -> duration {
            ++*asked;
            return 500ms;
        });
}

std::string key_in(std::uint16_t vbucket) {
    std::string key = "k";
    while (wire::vbucket_of(key, 2).value != vbucket) {
        key += "k";
    }
    return key;
}

std::optional<answer> no_answer_to_gets(const seen_request& request) {
    return request.op == wire::opcode::get ? std::optional(answer{.is_silent = true})
                                           : std::nullopt;
}

// Seed 215 of profile swarm: a server may send any answer.
TEST(simulation_findings, RH_29_a_read_is_never_ambiguous_even_if_the_server_reports_it) {
    auto [cluster, driver] = connected_node();
    cluster.on_request = [](const seen_request& request) -> std::optional<answer> {
        return request.op == wire::opcode::get || request.op == wire::opcode::set
                   ? std::optional(answer{.status = status::sync_write_ambiguous})
                   : std::nullopt;
    };
    const auto read = driver.get("k");
    const auto stored = driver.after(1ms, driver.upsert("k", "v"));
    ASSERT_EQ(read->result.ec, errc::durability_ambiguous);
    EXPECT_FALSE(read->result.error->is_ambiguous);
    ASSERT_EQ(stored->result.ec, errc::durability_ambiguous);
    EXPECT_TRUE(stored->result.error->is_ambiguous);
}

// Seeds 3 of profile servers and 500 of quick: the node leaves, and the key no longer has an owner.
TEST(simulation_findings, RH_15_one_new_configuration_wakes_an_operation_once) {
    scripted_cluster cluster(2, 2);
    const auto asked = std::make_shared<int>(0);
    connected_driver driver(cluster, {{.strategy = counting(asked)}});
    cluster.nodes[1].refuses_connections = true;
    driver.close_node(1);
    driver.advance(20ms);
    const auto waiting = driver.after(1ms, driver.get(key_in(1)));
    ASSERT_EQ(*asked, 1);
    cluster.map = {{0}, {-1}};
    cluster.data_node_count = 1;
    cluster.revision.rev = 11;
    driver.push_configuration(driver.connections_to(0).at(0), 0, false);
    driver.advance(1ms);
    EXPECT_EQ(*asked, 2);
    EXPECT_EQ(waiting->calls, 0);
}

// Seed 466 of profile swarm: one of two connections to the node is down.
TEST(
    simulation_findings,
    RH_34_a_closing_breaker_does_not_wake_operations_that_wait_for_a_connection) {
    scripted_cluster cluster(1, 2);
    const auto asked = std::make_shared<int>(0);
    engine_options options;
    options.strategy = counting(asked);
    options.kv_timeout = 10s;
    options.kv_connections_per_node = 2;
    options.circuit_breaker = driver::circuit_breaker_options{
        .volume_threshold = 1, .error_threshold_percent = 1, .sleep_window = 5ms};
    connected_driver driver(cluster, options);
    ASSERT_EQ(driver.connections_to(0).size(), 2U);
    cluster.nodes[0].refuses_connections = true;
    cluster.on_request = no_answer_to_gets;
    driver.close_peer(driver.connections_to(0).at(1));
    // One of each pair goes to the remaining connection, the other one waits.
    for (const duration timeout : {20ms, 20ms, 10000ms, 10000ms}) {
        operation_request request = driver.request(operation_kind::get, "k");
        request.timeout = timeout;
        driver.start(std::move(request));
    }
    driver.advance(1ms);
    ASSERT_EQ(*asked, 2);
    driver.advance(100ms);
    EXPECT_EQ(cluster.count(wire::opcode::noop), 1U);  // the canary
    EXPECT_EQ(*asked, 2);
}

// Seeds 25 and 48 of profile long: another node refuses the credentials.
TEST(simulation_findings, RH_25_a_terminal_state_does_not_wake_operations_that_can_be_sent) {
    scripted_cluster cluster(2, 2);
    const auto asked = std::make_shared<int>(0);
    engine_options options;
    options.strategy = counting(asked);
    options.kv_timeout = 10s;
    options.pipeline_credit = 1;
    options.ready_count_max = 1;
    connected_driver driver(cluster, options);
    cluster.on_request = no_answer_to_gets;
    for (int count = 0; count < 3; ++count) {
        driver.get(key_in(0));  // one on the wire, one ready, one waits
        driver.settle();
    }
    ASSERT_EQ(*asked, 1);
    cluster.nodes[1].sasl_status = status::auth_error;
    driver.close_node(1);
    driver.advance(300ms);
    ASSERT_GE(cluster.count(wire::opcode::sasl_auth), 3U);
    EXPECT_EQ(driver.engine().statistics().operations_ready, 1U);
    EXPECT_EQ(driver.engine().statistics().operations_parked, 1U);
}

// Seed 12059 of profile swarm: the answer to a canceled request never arrives.
TEST(simulation_findings, canceled_requests_do_not_keep_their_credit_forever) {
    scripted_cluster cluster(1, 2);
    engine_options options;
    options.pipeline_credit = 1;
    connected_driver driver(cluster, options);
    cluster.on_request = no_answer_to_gets;
    const auto canceled = driver.settled(driver.get("k"));
    ASSERT_TRUE(driver.engine().cancel(driver.last_id, driver.now));
    driver.advance(options.probe_after + options.probe_timeout + 100ms);
    ASSERT_EQ(canceled->calls, 1);
    const auto stored = driver.after(100ms, driver.upsert("k", "v"));
    ASSERT_TRUE(stored->has_succeeded());
}

}  // namespace reprise::engine::testing::simulation_findings_tests
