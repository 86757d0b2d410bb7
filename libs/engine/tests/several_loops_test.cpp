// Several engines as loops of one client: what holds for the client as a whole, and how one loop
// learns what another found out.

#include <gtest/gtest.h>

#include <optional>

#include <reprise/couchbase_types/errc.hpp>
#include <reprise/retry/token_bucket.hpp>

#include "engine_driver.hpp"

namespace reprise::engine::testing::several_loops_tests {

// Two loops in one virtual time.
struct two_loops {
    explicit two_loops(scripted_cluster& cluster, engine_options options = {})
        : one(cluster, with_two(std::move(options))), other(cluster) {
        one.takes_wakes = true;
        other.takes_wakes = true;
        other.first_loop = &one;
        other.seed = 43;
        static_cast<void>(other.engine());
    }
    engine_driver one;
    engine_driver other;

    void settle() {
        one.settle();
        other.settle();
        one.settle();
    }
    void advance(duration by, duration step = 1ms) {
        settle();
        for (duration gone{}; gone < by; gone += step) {
            one.advance(step);
            other.advance(step);
        }
        settle();
    }
    void connect() {
        one.connect();
        other.connect();
        settle();
    }

private:
    static engine_options with_two(engine_options options) {
        options.io_threads = 2;
        return options;
    }
};

// Empty: the loop has no configuration.
std::optional<wire::configuration_revision> revision_of(engine_driver& loop) {
    const auto seen = loop.engine().configuration(loop.cluster.bucket);
    return seen ? std::optional(seen->revision()) : std::nullopt;
}

TEST(several_loops, RH_50_both_serve_operations_and_servers_see_one_client) {
    scripted_cluster cluster(1);
    two_loops client(cluster);
    client.connect();
    const auto written = client.one.upsert("k", "1");
    client.settle();
    const auto read = client.other.get("k");
    client.settle();
    EXPECT_FALSE(written->result.ec);
    EXPECT_FALSE(read->result.ec);
    EXPECT_EQ(client.one.engine().diagnostics().client, client.other.engine().diagnostics().client);
}

TEST(several_loops, RH_50_ids_of_connections_and_operations_differ_between_loops) {
    scripted_cluster cluster(2);
    two_loops client(cluster);
    client.connect();
    for (const connect_action& mine : client.one.connects) {
        for (const connect_action& theirs : client.other.connects) {
            EXPECT_NE(mine.connection, theirs.connection);
        }
    }
    client.one.get("k");
    client.other.get("k");
    EXPECT_NE(client.one.last_id, client.other.last_id);
    EXPECT_TRUE(client.other.engine().cancel(client.other.last_id, client.other.now));
    client.settle();
}

TEST(several_loops, RH_50_operations_that_wait_are_counted_together) {
    scripted_cluster cluster(1);
    cluster.nodes[0].refuses_connections = true;
    engine_options options;
    options.parked_count_max = 2;
    two_loops client(cluster, std::move(options));
    client.one.get("a");
    client.one.get("b");
    client.settle();
    EXPECT_EQ(client.other.engine().statistics().operations_parked, 2U);
    const auto third = client.other.get("c");
    client.settle();
    EXPECT_EQ(third->result.ec, errc::retry_queue_full);
}

TEST(several_loops, RH_50_retries_are_paid_from_one_budget) {
    scripted_cluster cluster(1);
    engine_options options;
    const auto bucket =
        std::make_shared<token_bucket>(token_bucket::options{.capacity = 10, .initial = {}});
    driver::retry_prices prices;
    prices.retry = 10.0;
    options.retry_budget.emplace(bucket, prices);
    two_loops client(cluster, std::move(options));
    client.connect();
    cluster.answer_all(opcode::get, {.status = status::etmpfail});
    const auto paid = client.one.get("k");
    client.settle();
    const auto refused = client.other.get("k");
    client.settle();
    EXPECT_EQ(paid->calls, 0) << "it waits for its retry";
    EXPECT_EQ(refused->result.ec, errc::temporary_failure);
}

TEST(several_loops, RH_50_a_terminal_state_that_one_loop_meets_ends_the_waiting_of_the_others) {
    scripted_cluster cluster(1);
    two_loops client(cluster);
    cluster.nodes[0].ignores_connections = true;
    const auto waiting = client.other.get("k");
    client.settle();
    cluster.nodes[0].ignores_connections = false;
    cluster.nodes[0].sasl_status = status::auth_error;
    client.one.connect();
    client.settle();
    EXPECT_EQ(waiting->result.ec, errc::authentication_failure);
    EXPECT_LE(waiting->at - time_point{1h}, 500ms);
    ASSERT_TRUE(waiting->result.error);
    EXPECT_NE(waiting->result.error->detail.find("node1"), std::string::npos)
        << waiting->result.error->detail;
}

TEST(several_loops, RH_50_a_terminal_state_that_one_loop_clears_is_cleared_for_the_others) {
    scripted_cluster cluster(1);
    two_loops client(cluster);
    cluster.nodes[0].ignores_connections = true;
    client.other.connect();
    cluster.nodes[0].ignores_connections = false;
    cluster.nodes[0].sasl_status = status::auth_error;
    client.one.connect();
    client.settle();
    cluster.nodes[0].sasl_status.reset();
    client.one.advance(11s);
    client.other.now = client.one.now;
    client.settle();
    auto request = client.other.request(operation_kind::get, "k");
    const auto read = client.other.start(std::move(request));
    client.advance(1s, 10ms);
    EXPECT_NE(read->result.ec, errc::authentication_failure);
}

TEST(several_loops, RH_50_a_bucket_that_one_loop_finds_missing_is_missing_for_the_others) {
    scripted_cluster cluster(1);
    two_loops client(cluster);
    cluster.nodes[0].ignores_connections = true;
    auto request = client.other.request(operation_kind::get, "k");
    request.timeout = 60s;
    const auto waiting = client.other.start(std::move(request));
    client.other.settle();
    cluster.nodes[0].ignores_connections = false;
    cluster.nodes[0].select_status = status::key_enoent;
    client.one.connect();
    client.one.advance(3s);
    client.other.settle();
    EXPECT_EQ(waiting->result.ec, errc::bucket_access_failure) << waiting->result.ec.message();
}

TEST(several_loops, RH_50_configurations_are_polled_as_often_as_by_one_loop_and_handed_over) {
    scripted_cluster cluster(1);
    two_loops client(cluster);
    client.connect();
    cluster.requests.clear();
    ++cluster.revision.rev;
    client.advance(10s, 10ms);
    EXPECT_LE(cluster.count(opcode::get_cluster_config), 4U);
    EXPECT_GE(cluster.count(opcode::get_cluster_config), 3U);
    EXPECT_EQ(revision_of(client.one), cluster.revision);
    EXPECT_EQ(
        client.one.engine().configuration(cluster.bucket),
        client.other.engine().configuration(cluster.bucket))
        << "one object for both";
}

TEST(several_loops, RH_50_a_configuration_reaches_the_other_loop_without_a_request) {
    scripted_cluster cluster(1);
    two_loops client(cluster);
    client.connect();
    ++cluster.revision.rev;
    client.one.push_configuration(client.one.connections_to(0).at(0), 0, false);
    cluster.requests.clear();
    client.settle();
    EXPECT_EQ(revision_of(client.other), cluster.revision);
    EXPECT_TRUE(cluster.requests.empty());
    const std::uint64_t applied_count = client.one.engine().statistics().configurations_applied +
                                        client.other.engine().statistics().configurations_applied;
    EXPECT_EQ(applied_count, 2U) << "the first and the pushed one, each counted once";
}

TEST(several_loops, RH_50_a_loop_that_connects_later_does_not_use_an_older_configuration) {
    scripted_cluster cluster(1);
    two_loops client(cluster);
    const std::string old = cluster.configuration_text(0);
    ++cluster.revision.rev;
    client.one.connect();
    client.settle();
    cluster.nodes[0].configuration_text = old;
    client.other.connect();
    client.settle();
    EXPECT_EQ(revision_of(client.one), cluster.revision);
    EXPECT_EQ(revision_of(client.other), cluster.revision);
}

// Seed 871092002 of profile swarm: the node that it connects to answers with a broken one.
TEST(several_loops, RH_50_a_loop_that_connects_later_needs_no_configuration_of_its_own) {
    scripted_cluster cluster(1);
    two_loops client(cluster);
    client.one.connect();
    client.settle();
    cluster.nodes[0].configuration_text = "{";
    const auto read = client.other.get("k");
    client.settle();
    ASSERT_EQ(read->code(), errc::document_not_found);
    EXPECT_EQ(read->result.error->retry_attempts, 0U);
    EXPECT_EQ(revision_of(client.other), cluster.revision);
}

TEST(several_loops, RH_50_failures_of_all_loops_open_one_breaker_and_one_canary_closes_it) {
    scripted_cluster cluster(1);
    engine_options options;
    options.circuit_breaker.emplace();
    options.circuit_breaker->volume_threshold = 2;
    options.probe_after = 1h;
    two_loops client(cluster, std::move(options));
    client.connect();
    cluster.answer_all(opcode::get, {.is_silent = true});
    for (engine_driver* loop : {&client.one, &client.other}) {
        auto request = loop->request(operation_kind::get, "k");
        request.timeout = 10ms;
        loop->start(std::move(request));
    }
    client.advance(20ms);
    cluster.on_request = nullptr;
    cluster.requests.clear();
    const auto mine = client.one.get("k");
    auto late = client.other.request(operation_kind::get, "k");
    late.timeout = 20s;
    const auto theirs = client.other.start(std::move(late));
    client.advance(100ms);
    EXPECT_EQ(cluster.count(opcode::get), 0U) << "it is open for both";
    client.advance(6s, 10ms);
    EXPECT_EQ(cluster.count(opcode::noop), 1U);
    EXPECT_EQ(theirs->result.ec, errc::document_not_found);
}

TEST(several_loops, RH_50_new_credentials_are_used_by_all_loops) {
    scripted_cluster cluster(1);
    two_loops client(cluster);
    cluster.nodes[0].sasl_status = status::auth_error;
    client.connect();
    cluster.nodes[0].sasl_status.reset();
    cluster.password = "changed";
    credentials changed;
    changed.username = "app";
    changed.password = "changed";
    client.one.engine().replace_credentials(changed);
    client.advance(10ms);
    const auto read = client.other.get("k");
    client.advance(10ms);
    EXPECT_EQ(read->code(), errc::document_not_found);
}

TEST(
    several_loops, RH_50_a_login_that_ends_because_of_another_loop_does_not_delay_new_credentials) {
    scripted_cluster cluster(1);
    engine_options options;
    options.kv_connections_per_node = 2;
    two_loops client(cluster, std::move(options));
    client.connect();
    client.advance(10ms);
    cluster.password = "changed";
    cluster.answer_all(opcode::sasl_step, {.is_silent = true});
    client.other.close_node(0);
    client.advance(1s);
    cluster.on_request = nullptr;
    client.one.close_node(0);
    client.advance(1s);
    EXPECT_EQ(client.other.engine().statistics().connections_open, 0U);
    credentials changed;
    changed.username = "app";
    changed.password = "changed";
    client.one.engine().replace_credentials(changed);
    client.advance(10ms);
    EXPECT_EQ(client.one.engine().statistics().connections_open, 2U);
    EXPECT_EQ(client.other.engine().statistics().connections_open, 2U);
}

TEST(several_loops, RH_50_a_server_that_refused_a_login_waits_for_the_next_one_of_any_loop) {
    scripted_cluster cluster(1);
    two_loops client(cluster);
    cluster.answer_all(opcode::sasl_step, {.status = status::auth_error});
    client.one.connect();
    client.settle();
    const std::size_t before = cluster.count(opcode::sasl_auth);
    client.other.connect();
    client.advance(9s, 100ms);
    EXPECT_EQ(cluster.count(opcode::sasl_auth), before);
}

TEST(several_loops, RH_50_connections_being_opened_are_limited_for_the_client) {
    scripted_cluster cluster(6);
    for (std::size_t node = 1; node < 6; ++node) {
        cluster.nodes[node].ignores_connections = true;
    }
    engine_options options;
    options.connecting_count_max = 4;
    two_loops client(cluster, std::move(options));
    client.connect();
    // Each loop has opened its first connection; two more for each loop are being opened.
    EXPECT_LE(client.one.connects.size() + client.other.connects.size(), 2U + 4U);
    EXPECT_GE(client.other.connects.size(), 2U);
}

TEST(several_loops, RH_50_the_limit_of_the_log_is_the_clients) {
    struct counting_sink final : couchbase::log_sink {
        void on_decision(
            couchbase::log_level, const couchbase::decision_record&) noexcept override {
            ++decisions;
        }
        void on_message(couchbase::log_level, std::string_view) noexcept override {}
        int decisions = 0;
    };
    scripted_cluster cluster(1);
    const auto sink = std::make_shared<counting_sink>();
    engine_options options;
    options.log = sink;
    options.log_decisions_per_second_max = 3;
    two_loops client(cluster, std::move(options));
    client.connect();
    cluster.answer_all(opcode::get, {.status = status::etmpfail});
    client.one.get("a");
    client.other.get("b");
    client.advance(400ms);
    EXPECT_EQ(sink->decisions, 3);
}

TEST(several_loops, RH_50_a_loop_that_is_gone_gets_no_notes) {
    scripted_cluster cluster(1);
    two_loops client(cluster);
    client.connect();
    client.other.destroy();
    ++cluster.revision.rev;
    client.one.push_configuration(client.one.connections_to(0).at(0), 0, false);
    client.one.advance(10s);
    EXPECT_EQ(revision_of(client.one), cluster.revision);
}

}  // namespace reprise::engine::testing::several_loops_tests
