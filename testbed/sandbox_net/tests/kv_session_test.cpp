#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <reprise/sandbox_net/embedded_cluster.hpp>
#include <reprise/sandbox_net/server.hpp>
#include <reprise/wire/cluster_configuration.hpp>

#include "raw_client.hpp"

namespace reprise::sandbox::key_value_test {

using raw::raw_client;
using wire::opcode;
using wire::status;

std::unique_ptr<embedded_cluster> start(server_options options = {}) {
    if (options.cluster.node_count == 4) {
        options.cluster.node_count = 1;
        options.cluster.replica_count = 0;
    }
    return raw::start_cluster(std::move(options));
}

std::uint16_t kv_port(const embedded_cluster& cluster, std::size_t node = 0) {
    return cluster.addresses().nodes.at(node).port(wire::service::key_value);
}

// The first notice of a server, for a test that waits for it. It does not use std::promise: setting
// one while no file descriptor is left makes the sanitizer, which probes memory through a pipe,
// report a bad object.
class notice_box {
public:
    void put(std::string_view text) {
        const std::lock_guard lock(mutex_);
        if (text_.empty()) {
            text_ = text;
        }
        changed_.notify_all();
    }
    // Empty if there was none in time.
    std::string wait() {
        std::unique_lock lock(mutex_);
        changed_.wait_for(lock, std::chrono::seconds(30), [&] { return !text_.empty(); });
        return text_;
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::string text_;
};

fault_rule on_get(fault_effect effect) {
    fault_rule rule;
    rule.ops = {opcode::get};
    rule.effect = std::move(effect);
    return rule;
}

TEST(sandbox_kv, a_raw_client_bootstraps_and_stores_over_plain) {
    const auto cluster = start();
    raw_client client(kv_port(*cluster));
    client.bootstrap();
    ASSERT_EQ(client.set("k", "\"v\"")->status(), status::success);
    const auto got = client.get("k");
    ASSERT_TRUE(got);
    EXPECT_EQ(got->value, "\"v\"");
}

TEST(sandbox_kv, a_pipelined_bootstrap_in_one_write_is_answered_in_order) {
    const auto cluster = start();
    raw_client client(kv_port(*cluster));
    client.send(wire::hello_request{"burst", {wire::hello_feature::xerror}});
    client.send(wire::get_error_map_request{});
    client.send(wire::empty_request{opcode::sasl_list_mechanisms});
    client.send(wire::empty_request{opcode::noop});
    EXPECT_EQ(client.receive()->header.op, opcode::hello);
    EXPECT_EQ(client.receive()->header.op, opcode::get_error_map);
    EXPECT_EQ(client.receive()->header.op, opcode::sasl_list_mechanisms);
    EXPECT_EQ(client.receive()->status(), status::eaccess);
}

TEST(sandbox_kv, the_configuration_contains_the_ports_that_are_listening) {
    server_options options;
    options.cluster.node_count = 3;
    options.tls.is_enabled = true;
    const auto cluster = start(std::move(options));
    raw_client client(kv_port(*cluster));
    client.bootstrap();
    const auto answered = client.call(wire::get_cluster_config_request{});
    ASSERT_TRUE(answered);
    const auto parsed = wire::parse_cluster_configuration(answered->value, {});
    ASSERT_TRUE(parsed);
    const auto& nodes = (*parsed)->nodes();
    ASSERT_EQ(nodes.size(), 3u);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const node_ports& ports = cluster->addresses().nodes[i];
        using wire::service;
        using wire::transport;
        EXPECT_EQ(nodes[i].hostname, "127.0.0.1");
        EXPECT_EQ(
            nodes[i].ports.port(service::key_value, transport::plain),
            ports.port(wire::service::key_value));
        EXPECT_EQ(
            nodes[i].ports.port(service::key_value, transport::tls),
            ports.port(wire::service::key_value, wire::transport::tls));
        EXPECT_EQ(
            nodes[i].ports.port(service::management, transport::plain),
            ports.port(wire::service::management));
        raw::raw_socket there(ports.port(wire::service::management));
        EXPECT_TRUE(there.is_connected());
    }
}

TEST(sandbox_kv, a_delayed_answer_is_sent_when_due_and_not_before) {
    const auto cluster = start();
    raw_client client(kv_port(*cluster));
    client.bootstrap();
    cluster->with_cluster([](sandbox::cluster& brain) {
        brain.faults().add(on_get(fault_delay{std::chrono::milliseconds(150)}));
    });
    client.set("k", "v");
    const auto before = std::chrono::steady_clock::now();
    ASSERT_EQ(client.get("k")->value, "v");
    const auto took = std::chrono::steady_clock::now() - before;
    EXPECT_GE(took, std::chrono::milliseconds(150));
    EXPECT_LT(took, std::chrono::seconds(10));
}

TEST(sandbox_kv, answers_with_different_delays_are_sent_in_order_of_due_time) {
    const auto cluster = start();
    raw_client client(kv_port(*cluster));
    client.bootstrap(
        "default", {wire::hello_feature::xerror, wire::hello_feature::collections,
                    wire::hello_feature::unordered_execution});
    cluster->with_cluster([](sandbox::cluster& brain) {
        for (const int delay : {300, 20}) {
            fault_rule rule = on_get(fault_delay{std::chrono::milliseconds(delay)});
            rule.when.limit = 1;
            brain.faults().add(rule);
        }
    });
    wire::document_request request;
    request.key.key = "k";
    const wire::request_header header = raw::at_key("k");
    client.send(request, header);
    client.send(request, header);
    const auto first = client.receive();
    const auto second = client.receive();
    ASSERT_TRUE(first && second);
    EXPECT_GT(first->header.opaque, second->header.opaque);
}

TEST(sandbox_kv, a_close_fault_closes_before_or_after_the_request_is_applied) {
    const auto cluster = start();
    for (const bool applies : {false, true}) {
        fault_rule rule;
        rule.ops = {opcode::set};
        rule.when.limit = 1;
        if (applies) {
            rule.effect = fault_close_after{};
        } else {
            rule.effect = fault_close_before{};
        }
        cluster->with_cluster([&](sandbox::cluster& brain) { brain.faults().add(rule); });
        raw_client client(kv_port(*cluster));
        client.bootstrap();
        EXPECT_FALSE(client.set("closing", "v"));
        raw_client other(kv_port(*cluster));
        other.bootstrap();
        EXPECT_EQ(other.get("closing")->status(), applies ? status::success : status::key_enoent);
    }
}

TEST(sandbox_kv, a_topology_change_is_pushed_to_subscribed_connections) {
    server_options options;
    options.cluster.node_count = 2;
    const auto cluster = start(std::move(options));
    raw_client client(kv_port(*cluster));
    client.bootstrap(
        "default",
        {wire::hello_feature::xerror, wire::hello_feature::duplex,
         wire::hello_feature::clustermap_change_notification, wire::hello_feature::collections});
    cluster->with_cluster(
        [](sandbox::cluster& brain) { ASSERT_TRUE(brain.topology().failover(node_id{1})); });
    // The connection may receive earlier revisions first.
    std::size_t node_count = 0;
    while (node_count != 1) {
        const std::optional<raw::answer> pushed = client.receive();
        ASSERT_TRUE(pushed);
        ASSERT_EQ(pushed->header.magic, wire::magic::server_request);
        const auto parsed = wire::parse_cluster_configuration(pushed->value);
        ASSERT_TRUE(parsed);
        node_count = (*parsed)->nodes().size();
    }
}

TEST(sandbox_kv, a_node_that_goes_down_closes_its_connections_and_refuses_new_ones) {
    server_options options;
    options.cluster.node_count = 2;
    const auto cluster = start(std::move(options));
    raw_client client(kv_port(*cluster, 1));
    client.bootstrap();
    cluster->with_cluster([](sandbox::cluster& brain) {
        ASSERT_TRUE(brain.topology().set_node_state(node_id{1}, false));
    });
    EXPECT_FALSE(client.receive());
    raw_client refused(kv_port(*cluster, 1));
    EXPECT_FALSE(refused.call(wire::empty_request{opcode::noop}));
    cluster->with_cluster([](sandbox::cluster& brain) {
        ASSERT_TRUE(brain.topology().set_node_state(node_id{1}, true));
    });
    raw_client again(kv_port(*cluster, 1));
    again.bootstrap();
}

TEST(sandbox_kv, garbage_and_oversized_frames_close_that_connection_only) {
    const auto cluster = start();
    raw_client bystander(kv_port(*cluster));
    bystander.bootstrap();
    std::string huge(24, '\0');
    huge[0] = static_cast<char>(0x80);
    huge[8] = static_cast<char>(0x7f);
    for (const std::string& bytes :
         {std::string("GET /pools HTTP/1.1\r\nHost: x\r\n\r\n"), std::string(5000, '\xff'), huge,
          std::string("\x81\x00", 2) + std::string(22, '\0')}) {
        raw_client client(kv_port(*cluster));
        client.stream().send(bytes);
        EXPECT_FALSE(client.receive());
    }
    EXPECT_EQ(bystander.set("k", "v")->status(), status::success);
}

TEST(sandbox_kv, a_frame_sent_in_single_bytes_is_understood) {
    const auto cluster = start();
    raw_client client(kv_port(*cluster));
    std::vector<std::byte> bytes;
    base::byte_writer writer(bytes);
    wire::request_header header;
    header.opaque = 7;
    const wire::hello_request hello{"x", {}};
    ASSERT_TRUE(hello.encode(writer, header));
    for (const std::byte byte : bytes) {
        client.stream().send(base::byte_view(&byte, 1));
    }
    EXPECT_EQ(client.receive()->header.opaque, 7u);
}

TEST(sandbox_kv, a_peer_that_does_not_read_is_closed_at_the_limit) {
    notice_box said;
    server_options options;
    options.output_size_max_bytes = std::size_t{1} << 20;
    options.on_notice = [&](std::string_view text) { said.put(text); };
    const auto cluster = start(std::move(options));
    raw_client client(kv_port(*cluster));
    client.bootstrap();
    ASSERT_EQ(client.set("k", std::string(400'000, 'x'))->status(), status::success);
    wire::document_request request;
    request.key.key = "k";
    // More than any socket buffer holds; sending fails once the server has closed.
    for (int i = 0; i < 200; ++i) {
        client.send(request, raw::at_key("k"));
    }
    std::size_t count = 0;
    while (client.receive()) {
        ++count;
    }
    EXPECT_LT(count, 200u);
    EXPECT_TRUE(said.wait().contains("does not read"));
}

TEST(sandbox_kv, a_slow_reader_gets_everything) {
    const auto cluster = start();
    raw_client client(kv_port(*cluster));
    client.bootstrap();
    const std::string value(1'000'000, 'x');
    ASSERT_EQ(client.set("k", value)->status(), status::success);
    wire::document_request request;
    request.key.key = "k";
    for (int i = 0; i < 60; ++i) {
        client.send(request, raw::at_key("k"));
    }
    for (int i = 0; i < 60; ++i) {
        const auto got = client.receive();
        ASSERT_TRUE(got) << i;
        ASSERT_EQ(got->value.size(), value.size());
    }
}

TEST(sandbox_kv, a_thousand_connections_at_once_are_served) {
    rlimit limit{};
    ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
    // Both ends are in this process, and some files are open already.
    const std::size_t count =
        std::min<std::size_t>(1000, limit.rlim_cur > 100 ? (limit.rlim_cur - 100) / 2 : 1);
    RecordProperty("open_file_limit", std::to_string(limit.rlim_cur));
    RecordProperty("connections", std::to_string(count));
    const auto cluster = start();
    std::vector<std::unique_ptr<raw_client>> clients;
    for (std::size_t i = 0; i < count; ++i) {
        clients.push_back(std::make_unique<raw_client>(kv_port(*cluster)));
        ASSERT_TRUE(clients.back()->stream().is_open()) << i << " of " << count;
    }
    for (const auto& client : clients) {
        client->send(wire::hello_request{"one of many", {wire::hello_feature::xerror}});
    }
    for (const auto& client : clients) {
        const auto answered = client->receive();
        ASSERT_TRUE(answered);
        EXPECT_EQ(answered->status(), status::success);
    }
    EXPECT_EQ(cluster->session_count(), count);
}

TEST(sandbox_kv, a_shortage_of_file_descriptors_is_reported_and_survived) {
    notice_box said;
    server_options options;
    options.on_notice = [&](std::string_view text) { said.put(text); };
    const auto cluster = start(std::move(options));
    rlimit before{};
    ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
    // Takes every file descriptor except the one that the client needs.
    std::vector<int> taken{::dup(0)};
    const rlimit tight{static_cast<rlim_t>(taken.front()) + 20, before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &tight), 0);
    for (int file = ::dup(0); file >= 0; file = ::dup(0)) {
        taken.push_back(file);
    }
    ::close(taken.back());
    taken.pop_back();
    raw_client client(kv_port(*cluster));
    EXPECT_TRUE(client.stream().is_open());
    const std::string text = said.wait();
    for (const int file : taken) {
        ::close(file);
    }
    setrlimit(RLIMIT_NOFILE, &before);
    EXPECT_TRUE(text.contains("open file limit " + std::to_string(tight.rlim_cur))) << text;
    client.bootstrap();  // accepted after all
}

TEST(sandbox_kv, a_peer_that_stops_reading_while_held_back_is_closed_in_time) {
    notice_box said;
    server_options options;
    options.output_stall_max = std::chrono::milliseconds(200);
    options.on_notice = [&](std::string_view text) { said.put(text); };
    const auto cluster = start(std::move(options));
    raw_client client(kv_port(*cluster));
    client.bootstrap();
    ASSERT_EQ(client.set("k", std::string(10'000'000, 'x'))->status(), status::success);
    wire::document_request request;
    request.key.key = "k";
    for (int i = 0; i < 10; ++i) {
        client.send(request, raw::at_key("k"));
    }
    EXPECT_TRUE(said.wait().contains("stopped reading"));
}

TEST(sandbox_kv, stopping_closes_busy_connections) {
    const auto cluster = start();
    raw_client idle(kv_port(*cluster));
    raw_client waiting(kv_port(*cluster));
    idle.bootstrap();
    waiting.bootstrap();
    cluster->with_cluster([](sandbox::cluster& brain) {
        brain.faults().add(on_get(fault_delay{std::chrono::hours(1)}));
    });
    wire::document_request request;
    request.key.key = "k";
    waiting.send(request, raw::at_key("k"));
    cluster->stop();
    EXPECT_FALSE(idle.receive());
    EXPECT_FALSE(waiting.receive());
    EXPECT_EQ(cluster->session_count(), 0u);
}

TEST(sandbox_kv, starts_and_stops_fifty_times_with_connections_open) {
    for (int i = 0; i < 50; ++i) {
        const auto cluster = start();
        ASSERT_TRUE(cluster);
        raw_client client(kv_port(*cluster));
        client.hello({wire::hello_feature::xerror});
    }
}

}  // namespace reprise::sandbox::key_value_test
