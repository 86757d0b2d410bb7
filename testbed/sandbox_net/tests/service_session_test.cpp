#include <memory>
#include <string>

#include <gtest/gtest.h>

#include <reprise/http/authorization.hpp>
#include <reprise/json/parse.hpp>
#include <reprise/sandbox/services.hpp>
#include <reprise/sandbox_net/embedded_cluster.hpp>
#include <reprise/sandbox_net/ready_file.hpp>
#include <reprise/sandbox_net/server.hpp>

#include "raw_client.hpp"

namespace reprise::sandbox::service_ports_test {

using raw::raw_stream;

std::unique_ptr<embedded_cluster> start(bool with_tls = false, std::uint16_t port = 0) {
    server_options options;
    options.cluster.node_count = 2;
    options.port = port;
    options.tls.is_enabled = with_tls;
    options.services = {
        wire::service::query, wire::service::views, wire::service::search,
        wire::service::analytics};
    return raw::start_cluster(std::move(options));
}

std::string request(
    std::string_view method, std::string_view target, std::string_view body = {},
    bool keep_alive = false) {
    return std::string(method) + " " + std::string(target) + " HTTP/1.1\r\nHost: x\r\n" +
           "Authorization: " + http::make_basic_authorization("app", "secret") +
           "\r\nContent-Length: " + std::to_string(body.size()) +
           (keep_alive ? "" : "\r\nConnection: close") + "\r\n\r\n" + std::string(body);
}

std::string query(std::string_view statement, bool keep_alive = false) {
    return request(
        "POST", "/query/service",
        "{\"statement\":\"" + std::string(statement) + "\",\"client_context_id\":\"c\"}",
        keep_alive);
}

std::string ask(std::uint16_t port, std::string_view text) {
    raw_stream stream(port);
    stream.send(text);
    return stream.receive_all();
}

TEST(sandbox_services, listen_and_are_announced_only_when_enabled) {
    const auto cluster = start(true);
    const node_ports& ports = cluster->addresses().nodes.at(1);
    for (const std::uint16_t port :
         {ports.port(wire::service::query), ports.port(wire::service::query, wire::transport::tls),
          ports.port(wire::service::search),
          ports.port(wire::service::search, wire::transport::tls),
          ports.port(wire::service::analytics),
          ports.port(wire::service::analytics, wire::transport::tls),
          ports.port(wire::service::views),
          ports.port(wire::service::views, wire::transport::tls)}) {
        EXPECT_NE(port, 0);
    }
    EXPECT_TRUE(ask(ports.port(wire::service::query), request("GET", "/admin/ping"))
                    .starts_with("HTTP/1.1 200"));
    EXPECT_TRUE(ask(ports.port(wire::service::analytics), request("GET", "/admin/ping"))
                    .starts_with("HTTP/1.1 200"));
    EXPECT_TRUE(ask(ports.port(wire::service::search), request("GET", "/api/ping"))
                    .starts_with("HTTP/1.1 200"));
    EXPECT_TRUE(
        ask(ports.port(wire::service::views), request("GET", "/")).starts_with("HTTP/1.1 200"));
    const std::string announced =
        ask(ports.port(wire::service::management), request("GET", "/pools/default/b/default"));
    for (const char* name :
         {"\"n1ql\"", "\"n1qlSSL\"", "\"fts\"", "\"cbas\"", "\"capiSSL\"", "\"couchapi\"",
          "\"enhancedPreparedStatements\""}) {
        EXPECT_TRUE(announced.contains(name)) << name;
    }
    server_options plain;
    plain.cluster.node_count = 1;
    plain.cluster.replica_count = 0;
    plain.services = {};
    const auto without = embedded_cluster::start(std::move(plain)).value();
    const std::string bare =
        ask(without->addresses().nodes.at(0).port(wire::service::management),
            request("GET", "/pools/default/b/default"));
    EXPECT_TRUE(bare.contains("\"mgmt\""));
    for (const char* name : {"n1ql", "fts", "cbas", "capi\"", "couchapi"}) {
        EXPECT_FALSE(bare.contains(name)) << name;
    }
    EXPECT_EQ(without->addresses().nodes.at(0).port(wire::service::query), 0);
}

TEST(sandbox_services, all_run_by_default) {
    const auto all = embedded_cluster::start({}).value();
    const node_ports& ports = all->addresses().nodes.at(3);
    for (const std::uint16_t port :
         {ports.port(wire::service::query), ports.port(wire::service::search),
          ports.port(wire::service::analytics), ports.port(wire::service::views)}) {
        EXPECT_NE(port, 0);
    }
    server_options options;
    options.services = {};
    const auto none = embedded_cluster::start(std::move(options)).value();
    EXPECT_EQ(none->addresses().nodes.at(0).port(wire::service::query), 0);
    EXPECT_EQ(none->addresses().nodes.at(0).port(wire::service::views), 0);
}

TEST(sandbox_services, share_documents_with_the_key_value_ports) {
    const auto cluster = start();
    raw::raw_client client(cluster->addresses().nodes.at(0).port(wire::service::key_value));
    client.bootstrap();
    const node_ports& ports = cluster->addresses().nodes.at(1);
    const std::string made =
        ask(ports.port(wire::service::query),
            query("UPSERT INTO `default` (KEY, VALUE) VALUES ('doc', {'n': 7})"));
    EXPECT_TRUE(made.contains("\"mutationCount\":1")) << made;
    bool is_found = false;
    for (std::size_t node = 0; node < 2; ++node) {
        raw::raw_client reader(cluster->addresses().nodes.at(node).port(wire::service::key_value));
        reader.bootstrap();
        const auto got = reader.get("doc");
        is_found = is_found || (got && got->value == "{\"n\":7}");
    }
    EXPECT_TRUE(is_found);
    EXPECT_TRUE(
        ask(ports.port(wire::service::analytics), query("SELECT VALUE d.n FROM `default` d"))
            .contains("[7]"));
}

TEST(sandbox_services, keep_a_connection_open_for_many_requests_even_over_tls) {
    const auto cluster = start(true);
    raw_stream stream(
        cluster->addresses().nodes.at(0).port(wire::service::query, wire::transport::tls),
        {cluster->addresses().ca_path, {}});
    ASSERT_TRUE(stream.is_open());
    for (int i = 0; i < 5; ++i) {
        stream.send(query("SELECT RAW " + std::to_string(i), true));
        EXPECT_TRUE(stream.receive_until("}}").contains("[" + std::to_string(i) + "]"));
    }
    stream.send(query("SELECT RAW 'end'"));
    EXPECT_TRUE(stream.receive_all().contains("\"end\""));
}

// Sends a million rows through a socket whose reader pauses. The server must wait for the reader
// instead of buffering the body: the limit on unsent bytes is far below the size of the body, so
// buffering would close the connection.
TEST(sandbox_services, stream_large_results_no_faster_than_the_peer_reads) {
    server_options options;
    options.cluster.node_count = 1;
    options.cluster.replica_count = 0;
    options.services = {wire::service::query};
    options.output_size_max_bytes = std::size_t{1024} * 1024;
    const auto cluster = embedded_cluster::start(std::move(options)).value();
    raw_stream stream(cluster->addresses().nodes.at(0).port(wire::service::query));
    stream.send(query("SELECT RAW n FROM ARRAY_RANGE(0, 1000000) AS n"));
    // Other clients are served in the meantime.
    EXPECT_TRUE(ask(cluster->addresses().nodes.at(0).port(wire::service::query),
                    query("SELECT RAW 'other'"))
                    .contains("other"));
    std::string tail;
    std::size_t size = 0;
    for (auto bytes = stream.receive(); !bytes.empty(); bytes = stream.receive()) {
        size += bytes.size();
        tail += base::as_text(bytes);
        tail.erase(0, tail.size() > 1000 ? tail.size() - 1000 : 0);
    }
    EXPECT_GT(size, 6'888'890u);
    EXPECT_TRUE(tail.contains("999998,999999],")) << tail;
    EXPECT_TRUE(tail.contains("\"resultCount\":1000000")) << tail;
    EXPECT_TRUE(tail.ends_with("\r\n0\r\n\r\n")) << tail;
}

TEST(sandbox_services, apply_fault_rules_on_the_wire_and_audit_them) {
    const auto cluster = start();
    const std::uint16_t port = cluster->addresses().nodes.at(0).port(wire::service::query);
    const auto with_rule = [&](service_fault_effect effect) {
        cluster->with_cluster([&](sandbox::cluster& brain) {
            brain.services().faults().clear();
            service_fault_rule rule;
            rule.effect = effect;
            brain.services().faults().add(std::move(rule));
        });
        return ask(port, query("SELECT RAW 1"));
    };
    EXPECT_TRUE(with_rule(service_fault_answer{503, {{"Retry-After", "1"}}, "{}"})
                    .contains("Retry-After: 1\r\n"));
    EXPECT_EQ(with_rule(fault_close_before{}), "");
    EXPECT_TRUE(with_rule(service_fault_close_after_headers{}).ends_with("\r\n\r\n"));
    EXPECT_TRUE(with_rule(service_fault_close_mid_body{5}).ends_with("\r\n\r\n{\"req"));
    EXPECT_TRUE(with_rule(fault_delay{std::chrono::milliseconds(20)}).contains("[1]"));
    EXPECT_TRUE(with_rule(service_fault_bad_chunk{}).contains("not a size"));
    cluster->with_cluster([](sandbox::cluster& brain) {
        const auto contexts = brain.services().audit().contexts();
        ASSERT_EQ(contexts.size(), 1u);
        EXPECT_EQ(contexts[0].request_count, 6u);
    });
}

TEST(sandbox_services, a_frozen_node_answers_earlier_requests_once_it_is_released) {
    const auto cluster = start();
    raw_stream stream(cluster->addresses().nodes.at(0).port(wire::service::query));
    const auto freeze = [&](bool is_frozen) {
        cluster->with_cluster([is_frozen](sandbox::cluster& brain) {
            node_disturbance how = brain.disturbances().of(node_id{0});
            how.is_frozen = is_frozen;
            ASSERT_TRUE(brain.disturbances().set(node_id{0}, how));
        });
    };
    freeze(true);
    stream.send(query("SELECT RAW 'late'"));
    // The other node's answer shows that the frozen one had time to answer.
    EXPECT_TRUE(
        ask(cluster->addresses().nodes.at(1).port(wire::service::query), query("SELECT RAW 'now'"))
            .contains("now"));
    freeze(false);
    EXPECT_TRUE(stream.receive_all().contains("late"));
}

TEST(sandbox_services, are_listed_in_the_ready_file_and_unknown_ones_are_refused) {
    const auto cluster = start();
    const std::string text = to_json({cluster->addresses(), 1});
    const auto parsed = json::parse(text);
    ASSERT_TRUE(parsed);
    const json::value* node = parsed->root.find("nodes")->at(0);
    EXPECT_EQ(
        node->find("query")->as_uint64(),
        cluster->addresses().nodes.at(0).port(wire::service::query));
    EXPECT_EQ(node->find("query_tls"), nullptr);
    server_options options;
    options.services = {wire::service::eventing};
    const auto refused = embedded_cluster::start(std::move(options));
    ASSERT_FALSE(refused);
    EXPECT_TRUE(refused.error().contains("eventing")) << refused.error();
}

}  // namespace reprise::sandbox::service_ports_test
