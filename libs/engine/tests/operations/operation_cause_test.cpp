#include <gtest/gtest.h>

#include "engine_driver.hpp"

// Every cause is named: in the error, in its history, in diagnostics and in the log.

namespace reprise::engine::testing::named_causes_tests {

struct kept_log : log_sink {
    std::string text;
    void on_decision(log_level, const decision_record&) noexcept override {}
    void on_message(log_level, std::string_view message) noexcept override {
        text.append(message).append("\n");
    }
};

struct troubled_client {
    explicit troubled_client(std::size_t nodes = 1) : cluster(nodes, 4) {}

    // Returns the error of a read that the given problem keeps from being sent.
    std::string history_text(duration timeout = 1s) {
        options.log = log;
        driver.emplace(cluster, options);
        auto request = driver->request(operation_kind::get, "k");
        request.timeout = timeout;
        const auto read = driver->start(std::move(request));
        driver->advance(timeout + 10ms);
        EXPECT_EQ(read->calls, 1);
        EXPECT_TRUE(read->result.ec);
        return to_string(*read->result.error);
    }
    // The problem that diagnostics report for the first endpoint.
    std::string seen() {
        const auto all = driver->engine().diagnostics();
        return all.endpoints.empty() ? "nothing" : all.endpoints.front().problem;
    }

    scripted_cluster cluster;
    engine_options options;
    std::shared_ptr<kept_log> log = std::make_shared<kept_log>();
    std::optional<engine_driver> driver;
};

void expect_in(const std::string& text, std::string_view words) {
    EXPECT_NE(text.find(words), std::string::npos) << text << "\nlacks: " << words;
}

// Expects the words everywhere: in the error, the diagnostics and the log.
void expect_named(troubled_client& with, std::string_view words, duration timeout = 1s) {
    expect_in(with.history_text(timeout), words);
    expect_in(with.seen(), words);
    expect_in(with.log->text, words);
}

TEST(named_causes, RH_30_a_refused_connection_is_named_with_its_address_and_in_each_attempt) {
    troubled_client with;
    with.cluster.nodes[0].connect_failure_kind = connect_failure::refused;
    const std::string text = with.history_text();
    expect_in(text, "waited for a configuration (node1:11210: connection refused");
    expect_in(text, "NODE_NOT_AVAILABLE at node1:11210 (connection refused");
    expect_in(with.seen(), "connection refused");
    expect_in(with.log->text, "node1:11210: connection refused");
}

TEST(named_causes, every_failure_to_connect_has_its_own_message) {
    for (const auto& [failure, words] : std::vector<std::pair<connect_failure, std::string>>{
             {connect_failure::unreachable, "no route to the host"},
             {connect_failure::name_not_found, "cannot resolve node1"},
             {connect_failure::no_descriptors, "out of file descriptors"},
             {connect_failure::reset, "connection reset while connecting"},
             {connect_failure::tls_untrusted, "the certificate is not trusted"},
             {connect_failure::tls_wrong_host, "the certificate is for another host"},
             {connect_failure::tls_expired, "the certificate is not valid now"},
             {connect_failure::tls_alert, "the server refused TLS"},
             {connect_failure::tls_protocol, "TLS failed"}}) {
        troubled_client with;
        with.cluster.nodes[0].connect_failure_kind = failure;
        expect_named(with, words);
    }
}

TEST(named_causes, a_connection_that_is_still_being_made_is_named) {
    troubled_client with;
    with.cluster.nodes[0].ignores_connections = true;
    expect_in(with.history_text(), "waited for a configuration (node1:11210: still connecting)");
    troubled_client later;
    later.cluster.nodes[0].ignores_connections = true;
    expect_named(later, "connecting timed out", 3s);
}

TEST(named_causes, a_peer_that_is_not_a_server_is_named) {
    for (const auto& [bytes, words] : std::vector<std::pair<std::string, std::string>>{
             {"\x15\x03\x03", "this is a TLS port"},
             {"HTTP/1.1 400 Bad Request\r\n\r\n", "not a Couchbase server"},
             {"-ERR unknown command\r\n", "not a Couchbase server"}}) {
        troubled_client with;
        with.cluster.on_request = [&](const seen_request&) {
            answer stranger;
            stranger.raw = bytes;
            return std::optional(stranger);
        };
        expect_named(with, words);
    }
}

TEST(named_causes, a_close_and_a_silence_during_the_login_are_named) {
    troubled_client closed;
    closed.cluster.on_request = [](const seen_request&) {
        return std::optional(answer{.closes = true});
    };
    expect_named(closed, "or this is a TLS port");
    troubled_client silent;
    silent.cluster.on_request = [](const seen_request&) {
        return std::optional(answer{.is_silent = true});
    };
    expect_named(silent, "no answer in time: not a Couchbase server", 11s);
}

TEST(named_causes, RH_25_refused_credentials_and_missing_rights_are_named) {
    troubled_client refused;
    refused.cluster.nodes[0].sasl_status = status::auth_error;
    expect_named(refused, "credentials refused");
    troubled_client denied;
    denied.cluster.nodes[0].select_status = status::eaccess;
    expect_named(denied, "no access to the bucket");
    troubled_client missing;
    missing.cluster.nodes[0].select_status = status::key_enoent;
    expect_named(missing, "bucket not on this node");
}

TEST(named_causes, a_server_without_a_configuration_and_one_with_a_bad_one_are_named) {
    troubled_client without;
    without.cluster.nodes[0].config_status = status::key_enoent;
    expect_named(without, "node1:11210: the server gave no configuration (0x01)");
    troubled_client bad;
    bad.cluster.nodes[0].configuration_text = R"({"rev":-1})";
    expect_named(bad, "configuration refused: rev");
}

TEST(named_causes, VB_08_a_map_without_owners_is_named) {
    troubled_client with;
    with.cluster.map.clear();
    expect_in(with.history_text(), "configuration 1:10 of travel names no owners yet");
}

TEST(named_causes, operations_that_wait_for_a_node_that_is_down_name_it) {
    troubled_client with(3);
    with.cluster.nodes[2].connect_failure_kind = connect_failure::refused;
    with.cluster.map.assign(4, {2});
    const std::string text = with.history_text();
    expect_in(text, "waited for a connection (node3:11210: connection refused");
    EXPECT_EQ(text.find("node2"), std::string::npos) << text;
}

TEST(named_causes, a_name_service_that_does_not_answer_is_named) {
    troubled_client with;
    with.options.seeds = {{"nosuch.invalid", {}}};
    with.options.dns_srv_name = "_couchbase._tcp.nosuch.invalid";
    expect_in(
        with.history_text(), "cannot resolve nosuch.invalid: the name service has not answered");
}

TEST(named_causes, of_many_nodes_a_few_are_named) {
    troubled_client with(10);
    for (scripted_node& node : with.cluster.nodes) {
        node.refuses_connections = true;
        with.options.seeds.push_back({node.host, node.port});
    }
    const std::string text = with.history_text();
    expect_in(text, "node1:11210: connection refused");
    expect_in(text, "node3:11210: connection refused");
    expect_in(text, "; and others");
}

TEST(named_causes, a_problem_is_cleared_when_the_connection_is_open) {
    troubled_client with;
    with.cluster.nodes[0].refuses_connections = true;
    expect_in(with.history_text(), "connection refused");
    with.cluster.nodes[0].refuses_connections = false;
    with.driver->advance(10s);
    EXPECT_EQ(with.seen(), "");
}

TEST(named_causes, an_operation_that_waits_for_a_collection_reports_it) {
    scripted_cluster cluster(1, 4);
    cluster.answer_all(wire::opcode::get_collection_id, {.is_silent = true});
    engine_driver driver(cluster);
    auto request = driver.request(operation_kind::get, "k", {}, "shop", "orders");
    request.timeout = 100ms;
    const auto read = driver.after(200ms, driver.start(std::move(request)));
    ASSERT_EQ(read->calls, 1);
    EXPECT_EQ(read->result.error->detail, "waited for the id of collection shop.orders");
}

TEST(named_causes, RH_25_http_calls_name_what_keeps_them_from_being_sent) {
    scripted_cluster cluster(1, 4);
    cluster.nodes[0].services.set(wire::service::query, wire::transport::plain, 8093);
    connected_driver driver(cluster);
    cluster.nodes[0].refuses_connections = true;
    auto request = query_request(R"({"statement":"SELECT 1"})");
    request.timeout = 1s;
    const auto asked = driver.after(1100ms, driver.start_http(std::move(request)));
    ASSERT_EQ(asked->calls, 1);
    const std::string text = to_string(*asked->result.error);
    expect_in(text, "; node1:8093: connection refused");
    expect_in(text, "NODE_NOT_AVAILABLE at node1:8093 (connection refused");
    troubled_client without;
    without.cluster.nodes[0].connect_failure_kind = connect_failure::refused;
    engine_driver alone(without.cluster);
    auto early = query_request(R"({"statement":"SELECT 1"})");
    early.timeout = 1s;
    const auto never = alone.start_http(std::move(early));
    alone.advance(1100ms);
    ASSERT_EQ(never->calls, 1);
    expect_in(to_string(*never->result.error), "node1:11210: connection refused");
}

}  // namespace reprise::engine::testing::named_causes_tests
