#include <gtest/gtest.h>

#include "engine_driver.hpp"
#include "planted_choice.hpp"

// Each planted bug about connections, maps and names, seen on the smallest script that shows it.

namespace reprise::engine::testing {
namespace connection_bugs_tests {

using namespace std::chrono_literals;
using wire::opcode;
using wire::status;
using answer = scripted_cluster::scripted_answer;

scripted_cluster::hook mute(opcode op) {
    return [op](const seen_request& seen) -> std::optional<answer> {
        return seen.op == op ? std::optional(answer{.is_silent = true}) : std::nullopt;
    };
}

scripted_cluster::hook not_mine(opcode op) {
    return [op](const seen_request& seen) -> std::optional<answer> {
        return seen.op == op ? std::optional(answer{.status = status::not_my_vbucket})
                             : std::nullopt;
    };
}

class patient_strategy final : public request_strategy {
public:
    void retry_after(const request_snapshot&, retry_reason, retry_sink& sink) override {
        sink.answer(retry_action::after(1s));
    }
};

retry_reason reason_of_a_lost_get(engine_driver& driver) {
    auto request = driver.request(operation_kind::get, "k");
    request.timeout = 100ms;
    const auto read = driver.start(std::move(request));
    driver.advance(200ms);
    return read->calls == 1 && read->result.error ? read->result.error->last_reason
                                                  : retry_reason::unknown;
}

}  // namespace connection_bugs_tests

using namespace connection_bugs_tests;

TEST(planted_connection_bugs, credit_ignored) {
    const auto seen = observe_both(bug::credit_ignored, [] {
        scripted_cluster cluster(1);
        engine_driver driver(cluster, {.pipeline_credit = 2});
        driver.connect();
        cluster.on_request = mute(opcode::get);
        for (int count = 0; count < 5; ++count) {
            driver.get("k");
        }
        driver.settle();
        return cluster.count(opcode::get);
    });
    EXPECT_EQ(seen.without, 2U);
    EXPECT_EQ(seen.with, 5U);
}

TEST(planted_connection_bugs, abandoned_request_forgotten) {
    const auto seen = observe_both(bug::abandoned_request_forgotten, [] {
        scripted_cluster cluster(1);
        engine_driver driver(cluster, {.kv_timeout = 10ms, .pipeline_credit = 4});
        driver.connect();
        cluster.on_request = mute(opcode::get);
        driver.get("k");
        driver.advance(20ms);
        return driver.engine().statistics().operations_on_wire;
    });
    EXPECT_EQ(seen.without, 1U);
    EXPECT_EQ(seen.with, 0U);
}

TEST(planted_connection_bugs, reuse_opaque) {
    const auto seen = observe_both(bug::reuse_opaque, [] {
        scripted_cluster cluster(1);
        engine_driver driver(cluster);
        driver.connect();
        driver.get("k");
        driver.advance(1ms);
        driver.get("k");
        driver.advance(1ms);
        const auto reads = cluster.all(opcode::get);
        return reads.at(1).opaque - reads.at(0).opaque;
    });
    EXPECT_EQ(seen.without, 1U);
    EXPECT_EQ(seen.with, 0U);
}

TEST(planted_connection_bugs, completion_lost_at_close) {
    const auto seen = observe_both(bug::completion_lost_at_close, [] {
        scripted_cluster cluster(1);
        engine_driver driver(cluster);
        driver.connect();
        cluster.on_request = mute(opcode::get);
        const auto read = driver.get("k");
        driver.settle();
        driver.engine().close(driver.now);
        driver.settle();
        return read->calls;
    });
    EXPECT_EQ(seen.without, 1);
    EXPECT_EQ(seen.with, 0);
}

TEST(planted_connection_bugs, operation_lost_at_disconnect) {
    const auto seen = observe_both(bug::operation_lost_at_disconnect, [] {
        scripted_cluster cluster(1);
        engine_driver driver(cluster, {.pipeline_credit = 1});
        driver.connect();
        cluster.on_request = mute(opcode::get);
        driver.get("k");
        const auto second = driver.get("k");
        driver.settle();
        cluster.on_request = nullptr;
        driver.close_node(0);
        driver.advance(10s);
        return second->calls;
    });
    EXPECT_EQ(seen.without, 1);
    EXPECT_EQ(seen.with, 0);
}

TEST(planted_connection_bugs, connection_left_at_close) {
    const auto seen = observe_both(bug::connection_left_at_close, [] {
        scripted_cluster cluster(1);
        cluster.nodes[0].is_silent = true;
        engine_driver driver(cluster);
        driver.connect();
        driver.engine().close(driver.now);
        driver.settle();
        return driver.closes.size();
    });
    EXPECT_EQ(seen.without, 1U);
    EXPECT_EQ(seen.with, 0U);
}

TEST(planted_connection_bugs, back_to_current_map) {
    const auto seen = observe_both(bug::back_to_current_map, [] {
        scripted_cluster cluster(3, 1);
        cluster.map = {{0}};
        cluster.forward_map = {{1}};
        engine_driver driver(cluster);
        driver.connect();
        driver.advance(100ms);
        cluster.on_request = not_mine(opcode::set);
        driver.upsert("k", "v");
        driver.advance(30ms);
        return cluster.all(opcode::set).at(2).node;
    });
    EXPECT_EQ(seen.without, 1U);
    EXPECT_EQ(seen.with, 0U);
}

TEST(planted_connection_bugs, older_configuration_taken) {
    const auto seen = observe_both(bug::older_configuration_taken, [] {
        scripted_cluster cluster(1);
        engine_driver driver(cluster);
        driver.connect();
        cluster.revision.rev = 9;
        driver.push_configuration(driver.connections_to(0).at(0), 0, false);
        driver.settle();
        return driver.engine().configuration("travel")->revision().rev;
    });
    EXPECT_EQ(seen.without, 10);
    EXPECT_EQ(seen.with, 9);
}

TEST(planted_connection_bugs, replica_read_from_active) {
    const auto seen = observe_both(bug::replica_read_from_active, [] {
        scripted_cluster cluster(2, 1);
        cluster.map = {{0, 1}};
        engine_driver driver(cluster);
        driver.connect();
        driver.advance(10ms);
        driver.start(driver.request(operation_kind::get_replica, "k"));
        driver.advance(10ms);
        return cluster.all(opcode::get_replica).at(0).node;
    });
    EXPECT_EQ(seen.without, 1U);
    EXPECT_EQ(seen.with, 0U);
}

TEST(planted_connection_bugs, wake_up_lost_on_map) {
    const auto seen = observe_both(bug::wake_up_lost_on_map, [] {
        scripted_cluster cluster(1);
        engine_driver driver(cluster, {.not_my_vbucket_delay = 1s});
        driver.connect();
        cluster.on_request = not_mine(opcode::set);
        const auto stored = driver.upsert("k", "v");
        driver.advance(200ms);
        cluster.on_request = nullptr;
        cluster.revision.rev = 11;
        driver.push_configuration(driver.connections_to(0).at(0), 0, false);
        driver.advance(10ms);
        return stored->calls;
    });
    EXPECT_EQ(seen.without, 1);
    EXPECT_EQ(seen.with, 0);
}

TEST(planted_connection_bugs, wake_up_lost_on_connection) {
    const auto seen = observe_both(bug::wake_up_lost_on_connection, [] {
        scripted_cluster cluster(1);
        engine_driver driver(cluster, {.strategy = std::make_shared<patient_strategy>()});
        driver.connect();
        driver.close_node(0);
        const auto read = driver.get("k");
        driver.advance(500ms);
        return read->calls;
    });
    EXPECT_EQ(seen.without, 1);
    EXPECT_EQ(seen.with, 0);
}

TEST(planted_connection_bugs, stale_collection_id) {
    const auto seen = observe_both(bug::stale_collection_id, [] {
        scripted_cluster cluster(1);
        cluster.collections["s.c"] = 8;
        engine_driver driver(cluster);
        driver.connect();
        driver.start(driver.request(operation_kind::upsert, "k", "v", "s", "c"));
        driver.advance(10ms);
        cluster.collections["s.c"] = 9;
        cluster.on_request = [](const seen_request& request) -> std::optional<answer> {
            const bool is_old = request.op == opcode::set && request.key.at(0) == '\x08';
            return is_old ? std::optional(answer{.status = status::unknown_collection})
                          : std::nullopt;
        };
        driver.start(driver.request(operation_kind::upsert, "k", "v", "s", "c"));
        driver.advance(1s);
        return cluster.count(opcode::get_collection_id);
    });
    EXPECT_EQ(seen.without, 2U);
    EXPECT_EQ(seen.with, 1U);
}

TEST(planted_connection_bugs, terminal_state_not_cleared) {
    const auto seen = observe_both(bug::terminal_state_not_cleared, [] {
        scripted_cluster cluster(1);
        cluster.nodes[0].sasl_status = status::auth_error;
        engine_driver driver(cluster);
        driver.connect();
        driver.advance(100ms);
        cluster.nodes[0].sasl_status.reset();
        driver.advance(20s);
        cluster.nodes[0].refuses_connections = true;
        driver.close_node(0);
        driver.advance(100ms);
        return reason_of_a_lost_get(driver);
    });
    EXPECT_EQ(seen.without, retry_reason::node_not_available);
    EXPECT_EQ(seen.with, retry_reason::authentication_error);
}

TEST(planted_connection_bugs, terminal_state_too_eager) {
    const auto seen = observe_both(bug::terminal_state_too_eager, [] {
        scripted_cluster cluster(1);
        cluster.nodes[0].refuses_connections = true;
        engine_driver driver(cluster);
        driver.connect();
        return reason_of_a_lost_get(driver);
    });
    EXPECT_EQ(seen.without, retry_reason::node_not_available);
    EXPECT_EQ(seen.with, retry_reason::tls_error);
}

TEST(planted_connection_bugs, reconnect_given_up) {
    const auto seen = observe_both(bug::reconnect_given_up, [] {
        scripted_cluster cluster(1);
        cluster.nodes[0].refuses_connections = true;
        engine_driver driver(cluster);
        driver.connect();
        driver.advance(30s);
        cluster.nodes[0].refuses_connections = false;
        driver.advance(30s);
        return driver.connections_to(0).size();
    });
    EXPECT_EQ(seen.without, 1U);
    EXPECT_EQ(seen.with, 0U);
}

TEST(planted_connection_bugs, breaker_stuck_half_open) {
    const auto seen = observe_both(bug::breaker_stuck_half_open, [] {
        scripted_cluster cluster(1);
        engine_driver driver(
            cluster, {.kv_timeout = 10ms,
                      .probe_after = 1h,
                      .circuit_breaker = circuit_breaker_options{.volume_threshold = 2}});
        driver.connect();
        cluster.on_request = mute(opcode::get);
        driver.get("k");
        driver.get("k");
        driver.advance(20ms);
        cluster.on_request = nullptr;
        driver.advance(8s);
        const auto read = driver.get("k");
        driver.advance(1ms);
        return read->result.ec == errc::document_not_found;
    });
    EXPECT_TRUE(seen.without);
    EXPECT_FALSE(seen.with);
}

}  // namespace reprise::engine::testing
