#include <gtest/gtest.h>

#include "engine_driver.hpp"

// Terminal states and HTTP operations: an operation uses any usable node. Only if there is none
// does it fail with the terminal state, and then soon.

namespace reprise::engine::testing::http_terminal_tests {

constexpr std::uint16_t query_port = 8093;
constexpr std::uint16_t query_port_tls = 18093;
constexpr std::uint16_t views_port = 8092;

class http_terminal : public ::testing::Test {
protected:
    http_terminal() { cluster_.answer_http({.body = R"({"results":[1]})"}); }
    void offer_query(std::size_t node) {
        cluster_.nodes[node].services.set(wire::service::query, wire::transport::plain, query_port);
        cluster_.nodes[node].services.set(
            wire::service::query, wire::transport::tls, query_port_tls);
    }
    static engine_options over_tls() {
        engine_options options;
        options.transport = wire::transport::tls;
        return options;
    }
    // The default strategy with delays that are longer than the test.
    static engine_options patient() {
        engine_options options;
        options.strategy = std::make_shared<fail_fast_on_terminal_error_strategy>(
            [](std::uint32_t, std::uint64_t) -> duration { return 20s; });
        return options;
    }
    // Node 0 refuses the credentials from now on. Returns when it has done so.
    time_point let_first_node_refuse(engine_driver& driver) {
        const std::size_t before = cluster_.all(opcode::sasl_auth).size();
        cluster_.nodes[0].sasl_status = status::auth_error;
        driver.close_node(0);
        for (int step = 0; step < 300; ++step) {
            driver.advance(1ms);
            if (cluster_.all(opcode::sasl_auth).size() > before) {
                return cluster_.all(opcode::sasl_auth)[before].at;
            }
        }
        ADD_FAILURE() << "no login was attempted";
        return driver.now;
    }
    void expect_refused(
        const engine_driver::outcome_ptr& done, errc code, retry_reason reason) const {
        ASSERT_EQ(done->calls, 1);
        EXPECT_EQ(done->result.ec, code) << done->result.ec.message();
        ASSERT_NE(done->result.error, nullptr);
        EXPECT_EQ(done->result.error->last_reason, reason);
        EXPECT_FALSE(done->result.error->is_ambiguous);
    }
    std::size_t sent() const { return cluster_.http_requests.size(); }

    scripted_cluster cluster_{2};
};

TEST_F(http_terminal, RH_26_a_node_that_can_be_trusted_is_used_although_another_cannot) {
    offer_query(0);
    offer_query(1);
    cluster_.nodes[1].http_connect_failure_kind = connect_failure::tls_untrusted;
    for (int first = 0; first < 2; ++first) {
        connected_driver driver(cluster_, over_tls());
        for (int round = 0; round < 2 + first; ++round) {
            const auto done = driver.after(20ms, driver.start_http(query_request("{}")));
            ASSERT_TRUE(done->has_succeeded()) << done->result.ec.message();
        }
    }
    for (const auto& seen : cluster_.http_requests) {
        EXPECT_EQ(seen.node, 0U);
    }
}

TEST_F(http_terminal, RH_26_without_a_node_to_trust_the_call_fails_at_once) {
    offer_query(0);
    offer_query(1);
    cluster_.nodes[0].http_connect_failure_kind = connect_failure::tls_untrusted;
    cluster_.nodes[1].http_connect_failure_kind = connect_failure::tls_expired;
    connected_driver driver(cluster_, over_tls());
    const auto done = driver.settled(driver.start_http(query_request("{}")));
    expect_refused(done, errc::tls_failure, retry_reason::tls_error);
}

// A handshake proves little: TLS 1.3 refuses a client certificate only after it.
TEST_F(http_terminal, RH_26_a_handshake_alone_does_not_clear_the_state) {
    offer_query(0);
    cluster_.nodes[0].http_connect_failure_kind = connect_failure::tls_untrusted;
    cluster_.answer_http({.is_silent = true});
    connected_driver driver(cluster_, over_tls());
    const auto refused = driver.settled(driver.start_http(query_request("{}")));
    expect_refused(refused, errc::tls_failure, retry_reason::tls_error);

    cluster_.nodes[0].http_connect_failure_kind.reset();
    driver.start_http(query_request("{}"));
    driver.settle();
    ASSERT_EQ(sent(), 1U) << "the handshake succeeds now, but there is no answer";
    cluster_.nodes[0].ignores_http_connections = true;
    driver.close_peer(cluster_.http_requests[0].connection, close_reason::reset);
    const time_point started = driver.now;
    const auto done = driver.after(1s, driver.start_http(query_request("{}")));
    expect_refused(done, errc::tls_failure, retry_reason::tls_error);
    EXPECT_LE(done->at - started, 500ms);
}

TEST_F(http_terminal, RH_08_authentication_is_raised_before_tls) {
    offer_query(0);
    cluster_.nodes[0].http_connect_failure_kind = connect_failure::tls_untrusted;
    connected_driver driver(cluster_, over_tls());
    let_first_node_refuse(driver);
    const auto done = driver.after(500ms, driver.start_http(query_request("{}")));
    expect_refused(done, errc::authentication_failure, retry_reason::authentication_error);
}

// The key-value links of two buckets are in different states, and either bucket comes first.
TEST_F(http_terminal, RH_08_authentication_of_one_bucket_is_raised_before_tls_of_another) {
    for (const bool is_tls_first : {false, true}) {
        scripted_cluster cluster(1);
        engine_options options = over_tls();
        options.seeds = {{"node1", {}}};
        engine_driver driver(cluster, options);
        scripted_node& node = cluster.nodes[0];
        const auto break_with_tls = [&](bool is_tls) {
            node.connect_failure_kind =
                is_tls ? std::optional(connect_failure::tls_untrusted) : std::nullopt;
            node.sasl_status = status::auth_error;
        };
        break_with_tls(is_tls_first);
        driver.engine().open("first", driver.now);
        driver.settle();
        break_with_tls(!is_tls_first);
        driver.engine().open("second", driver.now);
        driver.advance(1s);
        const auto done = driver.after(500ms, driver.start_http(query_request("{}")));
        expect_refused(done, errc::authentication_failure, retry_reason::authentication_error);
    }
}

TEST_F(http_terminal, RH_25_a_node_that_answers_is_used_although_another_refuses_key_value) {
    offer_query(0);
    offer_query(1);
    connected_driver driver(cluster_);
    let_first_node_refuse(driver);
    cluster_.nodes[1].http_connect_failure_kind = connect_failure::refused;
    for (int round = 0; round < 3; ++round) {
        const auto done = driver.after(20ms, driver.start_http(query_request("{}")));
        ASSERT_TRUE(done->has_succeeded()) << done->result.ec.message();
    }
}

// --- a TLS alert while a request is on the wire ---

class http_alert : public http_terminal {
protected:
    http_alert() {
        cluster_.on_http = [](const seen_http_request& seen) {
            return scripted_http_answer{.body = R"({"results":[1]})", .is_silent = seen.node == 0};
        };
    }
    static void alert(engine_driver& driver) {
        driver.close_peer(driver.connects.back().connection, close_reason::tls_alert);
        driver.advance(20ms);
    }
};

TEST_F(http_alert, RH_26_a_request_that_never_left_fails_with_tls_error) {
    offer_query(0);
    connected_driver driver(cluster_, over_tls());
    driver.write_room = 0;
    const auto done = driver.settled(driver.start_http(query_request("{}")));
    alert(driver);
    expect_refused(done, errc::tls_failure, retry_reason::tls_error);
    EXPECT_EQ(done->result.retry_attempts, 0U) << "known at once, not after a retry";
    EXPECT_EQ(sent(), 0U);
}

TEST_F(http_alert, RH_26_a_repeatable_request_fails_with_tls_error) {
    offer_query(0);
    connected_driver driver(cluster_, over_tls());
    const auto done = driver.settled(driver.start_http(readonly_request("{}")));
    alert(driver);
    expect_refused(done, errc::tls_failure, retry_reason::tls_error);
    EXPECT_EQ(sent(), 1U);
}

TEST_F(http_alert, RH_16_RH_26_a_request_that_may_have_been_executed_is_ambiguous_and_sent_once) {
    offer_query(0);
    connected_driver driver(cluster_, over_tls());
    const auto done = driver.settled(driver.start_http(query_request("{}")));
    alert(driver);
    ASSERT_EQ(done->code(), errc::request_canceled);
    EXPECT_TRUE(done->result.error->is_ambiguous);
    EXPECT_EQ(sent(), 1U);
}

TEST_F(http_alert, RH_26_a_node_without_an_alert_is_used) {
    offer_query(0);
    connected_driver driver(cluster_, over_tls());
    const auto done = driver.settled(driver.start_http(readonly_request("{}")));
    offer_query(1);
    ++cluster_.revision.rev;
    driver.push_configuration(driver.connections_to(0)[0], 0, false);
    driver.settle();
    driver.close_peer(cluster_.http_requests[0].connection, close_reason::tls_alert);
    driver.advance(20ms);
    ASSERT_TRUE(done->has_succeeded()) << done->result.ec.message();
    EXPECT_EQ(cluster_.http_requests.back().node, 1U);
}

TEST_F(http_alert, RH_26_calls_that_wait_for_the_connection_fail_with_tls_error) {
    offer_query(0);
    engine_options options = over_tls();
    options.http_connections_per_node_max = 1;
    connected_driver driver(cluster_, options);
    const auto out = driver.start_http(query_request("{}"));
    const auto waiting = driver.settled(driver.start_http(query_request("{}")));
    ASSERT_EQ(sent(), 1U);
    alert(driver);
    EXPECT_TRUE(out->result.error->is_ambiguous);
    expect_refused(waiting, errc::tls_failure, retry_reason::tls_error);
    EXPECT_EQ(sent(), 1U);
}

// --- bucket access concerns key-value only ---

http_request view_of(const std::string& bucket) {
    http_request made = readonly_request("{}");
    made.service = wire::service::views;
    made.bucket = bucket;
    return made;
}

class http_view : public http_terminal {
protected:
    // Every node refuses the bucket but sends the configuration of the cluster.
    void refuse_bucket(status code) {
        for (scripted_node& node : cluster_.nodes) {
            node.services.set(wire::service::views, wire::transport::plain, views_port);
        }
        scripted_cluster whole = cluster_;
        whole.bucket = "";
        whole.map.clear();
        for (scripted_node& node : cluster_.nodes) {
            node.select_status = code;
            node.configuration_text = whole.configuration_text(0);
        }
    }
};

TEST_F(http_view, RH_27_views_of_a_bucket_that_key_value_may_not_open_are_still_requested) {
    for (const status code : {status::eaccess, status::key_enoent}) {
        refuse_bucket(code);
        cluster_.http_requests.clear();
        engine_driver driver(cluster_);
        const auto done = driver.start_http(view_of("travel"));
        driver.advance(code == status::eaccess ? 1s : 3s);
        ASSERT_TRUE(done->has_succeeded()) << done->result.ec.message();
        ASSERT_EQ(sent(), 1U);
        EXPECT_EQ(cluster_.http_requests[0].port, views_port);
    }
}

TEST_F(http_view, RH_27_bucket_access_error_is_never_raised_for_it) {
    refuse_bucket(status::eaccess);
    for (scripted_node& node : cluster_.nodes) {
        node.config_status = status::no_bucket;  // so the client cannot find the views
        node.configuration_text.clear();
    }
    engine_driver driver(cluster_);
    auto request = view_of("travel");
    request.timeout = 5s;
    const auto done = driver.after(6s, driver.start_http(std::move(request)));
    ASSERT_EQ(done->code(), errc::unambiguous_timeout) << done->result.ec.message();
    EXPECT_FALSE(done->result.error->retry_reasons.contains(retry_reason::bucket_access_error));
}

// --- waiting operations are notified ---

TEST_F(http_terminal, RH_38_a_call_waiting_for_a_connection_fails_within_500_ms) {
    offer_query(1);
    cluster_.nodes[1].ignores_http_connections = true;
    connected_driver driver(cluster_);
    const auto waiting = driver.after(100ms, driver.start_http(query_request("{}")));
    ASSERT_EQ(waiting->calls, 0);
    const time_point set = let_first_node_refuse(driver);
    driver.advance(set + 500ms - driver.now);
    expect_refused(waiting, errc::authentication_failure, retry_reason::authentication_error);
    // A later call finds the same state.
    const auto later = driver.after(500ms, driver.start_http(query_request("{}")));
    expect_refused(later, errc::authentication_failure, retry_reason::authentication_error);
}

TEST_F(http_terminal, RH_38_a_call_in_a_backoff_fails_within_500_ms) {
    offer_query(1);
    cluster_.nodes[1].http_connect_failure_kind = connect_failure::refused;
    connected_driver driver(cluster_, patient());
    const auto waiting = driver.after(700ms, driver.start_http(query_request("{}")));
    ASSERT_EQ(waiting->calls, 0);
    const time_point set = let_first_node_refuse(driver);
    driver.advance(set + 500ms - driver.now);
    expect_refused(waiting, errc::authentication_failure, retry_reason::authentication_error);
}

TEST_F(http_terminal, RH_38_a_call_waiting_during_the_bootstrap_fails_within_500_ms) {
    offer_query(0);
    cluster_.nodes[0].refuses_connections = true;
    engine_options options = patient();
    options.reconnect_delay_max = 100ms;
    engine_driver driver(cluster_, options);
    const auto waiting = driver.after(700ms, driver.start_http(query_request("{}")));
    ASSERT_EQ(waiting->calls, 0);
    cluster_.nodes[0].refuses_connections = false;
    const time_point set = let_first_node_refuse(driver);
    driver.advance(set + 500ms - driver.now);
    expect_refused(waiting, errc::authentication_failure, retry_reason::authentication_error);
}

TEST_F(http_terminal, RH_25_RH_38_a_connection_that_opens_in_time_is_used) {
    offer_query(1);
    cluster_.nodes[1].ignores_http_connections = true;
    connected_driver driver(cluster_);
    const auto waiting = driver.after(100ms, driver.start_http(query_request("{}")));
    ASSERT_EQ(waiting->calls, 0);
    const connection_id opening = driver.connects.back().connection;
    let_first_node_refuse(driver);
    driver.advance(100ms);
    ASSERT_EQ(waiting->calls, 0) << "the connection may still open";
    driver.open_ignored(opening);
    driver.settle();
    ASSERT_TRUE(waiting->has_succeeded()) << waiting->result.ec.message();
}

TEST_F(http_terminal, RH_25_RH_38_a_configuration_that_arrives_in_time_is_used) {
    offer_query(1);
    cluster_.nodes[0].sasl_status = status::auth_error;
    cluster_.nodes[1].ignores_connections = true;
    engine_options options;
    options.seeds = {{"node1", 11210}, {"node2", 11210}};
    engine_driver driver(cluster_, options);
    const auto waiting = driver.after(100ms, driver.start_http(query_request("{}")));
    EXPECT_EQ(waiting->calls, 0) << "the second seed may still answer";
    const auto second = std::ranges::find(driver.connects, "node2", &connect_action::host);
    ASSERT_NE(second, driver.connects.end());
    cluster_.bucket = "";  // the seeds are asked for the cluster's configuration
    cluster_.map.clear();
    driver.open_ignored(second->connection);
    driver.advance(10ms);
    ASSERT_TRUE(waiting->has_succeeded()) << waiting->result.ec.message();
}

TEST_F(http_terminal, RH_38_a_call_waiting_for_the_first_configuration_fails_within_500_ms) {
    cluster_.nodes[0].sasl_status = status::auth_error;
    cluster_.nodes[1].ignores_connections = true;
    engine_options options;
    options.seeds = {{"node1", 11210}, {"node2", 11210}};
    engine_driver driver(cluster_, options);
    const auto waiting = driver.start_http(query_request("{}"));
    driver.advance(options.seed_silence_max - 10ms);
    EXPECT_EQ(waiting->calls, 0) << "the state is not set while the other seed may answer";
    driver.advance(510ms);
    expect_refused(waiting, errc::authentication_failure, retry_reason::authentication_error);
}

TEST_F(http_terminal, RH_25_RH_38_a_backoff_after_an_answer_continues) {
    offer_query(1);
    int answers = 0;
    cluster_.on_http = [&](const seen_http_request&) {
        scripted_http_answer answer;
        answer.status = answers++ == 0 ? 503 : 200;
        answer.body = R"({"results":[]})";
        return answer;
    };
    connected_driver driver(cluster_);
    const auto waiting = driver.start_http(
        query_request("{}", always_retry(retry_reason::analytics_temporary_failure, 2s)));
    driver.advance(100ms);
    let_first_node_refuse(driver);
    driver.advance(1s);
    EXPECT_EQ(sent(), 1U) << "the service asked for two seconds";
    driver.advance(1s);
    ASSERT_TRUE(waiting->has_succeeded()) << waiting->result.ec.message();
}

// Node 0 does not answer, then its certificate is refused. Its canary cannot be sent, and went to
// the other node, whose breaker it would have closed.
TEST_F(http_terminal, RH_34_a_canary_whose_endpoint_cannot_be_trusted_goes_to_no_other_node) {
    offer_query(0);
    offer_query(1);
    cluster_.on_http = [](const seen_http_request& seen) {
        scripted_http_answer made;
        made.body = R"({"results":[1]})";
        made.is_silent = seen.node == 0;
        return made;
    };
    engine_options options = over_tls();
    options.circuit_breaker.emplace();
    options.circuit_breaker->volume_threshold = 4;
    connected_driver driver(cluster_, options);
    for (int index = 0; index < 10; ++index) {
        http_request asked = readonly_request("{}");
        asked.timeout = 10ms;
        driver.start_http(std::move(asked));
        driver.advance(15ms);
    }
    cluster_.http_requests.clear();
    cluster_.nodes[0].http_connect_failure_kind = connect_failure::tls_expired;
    driver.advance(6s);
    EXPECT_EQ(sent(), 0U);
    EXPECT_EQ(driver.engine().statistics().operations_open, 0U);
    // The next canary finds the node repaired.
    cluster_.nodes[0].http_connect_failure_kind.reset();
    driver.advance(10s);
    ASSERT_EQ(sent(), 1U);
    EXPECT_EQ(cluster_.http_requests[0].node, 0U);
}

}  // namespace reprise::engine::testing::http_terminal_tests
