#include <chrono>
#include <memory>
#include <string>

#include <sys/resource.h>

#include <gtest/gtest.h>

#include <reprise/sandbox_net/control_client.hpp>
#include <reprise/sandbox_net/embedded_cluster.hpp>
#include <reprise/sandbox_net/server.hpp>
#include <reprise/wire/cluster_configuration.hpp>

#include "raw_client.hpp"

namespace reprise::sandbox::net_topology_test {

using raw::raw_client;
using raw::raw_socket;
using std::chrono::milliseconds;
using wire::opcode;
using wire::status;

constexpr milliseconds patience{30'000};

std::unique_ptr<embedded_cluster> start_nodes(std::size_t count, server_options options = {}) {
    options.cluster.node_count = count;
    options.cluster.replica_count = count > 1 ? 1 : 0;
    return raw::start_cluster(std::move(options));
}

wire::cluster_configuration_ptr ask_configuration(raw_client& client) {
    const auto answered = client.call(wire::get_cluster_config_request{});
    EXPECT_TRUE(answered);
    auto parsed = wire::parse_cluster_configuration(answered->value);
    EXPECT_TRUE(parsed);
    return *parsed;
}

std::uint16_t kv_of(const embedded_cluster& cluster, std::size_t node) {
    return cluster.addresses().nodes.at(node).port(wire::service::key_value);
}

json::value control(const embedded_cluster& cluster, const json::object& command) {
    const auto answer =
        call_control({cluster.addresses().control_url, cluster.addresses().control_token}, command);
    EXPECT_TRUE(answer) << answer.error();
    return answer ? *answer : json::value();
}

TEST(sandbox_net_topology, an_added_node_listens_and_is_announced_with_its_ports) {
    server_options options;
    options.tls.is_enabled = true;
    const auto cluster = start_nodes(2, options);
    const auto added = cluster->add_node();
    ASSERT_TRUE(added) << added.error();
    EXPECT_EQ(added->node, node_id{2});
    raw_client client(kv_of(*cluster, 0));
    client.bootstrap();
    const auto configuration = ask_configuration(client);
    ASSERT_EQ(configuration->nodes().size(), 3u);
    const auto& ports = configuration->nodes()[2].ports;
    EXPECT_EQ(
        ports.port(wire::service::key_value, wire::transport::plain),
        added->ports.port(wire::service::key_value));
    EXPECT_EQ(
        ports.port(wire::service::management, wire::transport::tls),
        added->ports.port(wire::service::management, wire::transport::tls));
    for (const std::uint16_t port :
         {added->ports.port(wire::service::key_value),
          added->ports.port(wire::service::key_value, wire::transport::tls),
          added->ports.port(wire::service::management),
          added->ports.port(wire::service::management, wire::transport::tls)}) {
        EXPECT_TRUE(raw_socket(port).is_connected());
    }
}

TEST(sandbox_net_topology, a_timed_rebalance_moves_documents_to_the_added_node) {
    const auto cluster = start_nodes(1);
    raw_client client(kv_of(*cluster, 0));
    client.bootstrap();
    for (int i = 0; i < 50; ++i) {
        const std::string key = "key_" + std::to_string(i);
        ASSERT_EQ(client.set(key, key)->status(), status::success);
    }
    const auto added = cluster->add_node();
    ASSERT_TRUE(added);
    ASSERT_TRUE(cluster->rebalance({}, milliseconds(0)));
    EXPECT_EQ(cluster->rebalance().error(), cluster_errc::rebalance_running);
    const auto ended = cluster->wait_rebalance(patience);
    ASSERT_TRUE(ended);
    EXPECT_EQ(ended->end, rebalance_end::finished);
    EXPECT_EQ(ended->moves_done, 512u);
    raw_client other(added->ports.port(wire::service::key_value));
    other.bootstrap();
    int moved_count = 0;
    for (int i = 0; i < 50; ++i) {
        const std::string key = "key_" + std::to_string(i);
        const auto here = client.get(key);
        const auto there = other.get(key);
        ASSERT_TRUE(here && there);
        const bool is_moved = here->status() == status::not_my_vbucket;
        moved_count += is_moved ? 1 : 0;
        EXPECT_EQ((is_moved ? there : here)->value, key);
        EXPECT_EQ((is_moved ? here : there)->status(), status::not_my_vbucket);
    }
    EXPECT_GT(moved_count, 5);
    EXPECT_LT(moved_count, 45);
}

TEST(sandbox_net_topology, a_rebalance_is_pushed_and_an_ejected_node_stops_listening) {
    const auto cluster = start_nodes(2);
    const std::uint16_t leaving_port = kv_of(*cluster, 1);
    raw_client leaving(leaving_port);
    leaving.bootstrap();
    raw_client client(kv_of(*cluster, 0));
    client.bootstrap(
        "default",
        {wire::hello_feature::xerror, wire::hello_feature::duplex,
         wire::hello_feature::clustermap_change_notification, wire::hello_feature::collections});
    ASSERT_TRUE(cluster->rebalance({.eject = {node_id{1}}}, milliseconds(0)));
    bool has_seen_forward_map = false;
    std::size_t node_count = 2;
    while (node_count != 1) {
        const auto pushed = client.receive();
        ASSERT_TRUE(pushed);
        const auto parsed = wire::parse_cluster_configuration(pushed->value);
        ASSERT_TRUE(parsed);
        has_seen_forward_map = has_seen_forward_map || (*parsed)->has_forward_map();
        node_count = (*parsed)->nodes().size();
    }
    EXPECT_TRUE(has_seen_forward_map);
    EXPECT_FALSE(leaving.receive());
    EXPECT_EQ(cluster->wait_rebalance(patience)->end, rebalance_end::finished);
    EXPECT_FALSE(raw_socket(leaving_port).is_connected());
}

// A rebalance used to send all of its configurations to every connection: more than 5 MB for 512
// moves, which a slow client had to read before it saw the newest one.
TEST(sandbox_net_topology, a_peer_that_does_not_read_during_a_rebalance_gets_few_configurations) {
    const auto cluster = start_nodes(1);
    raw_client client(kv_of(*cluster, 0));
    const int receive_size = 64 * 1024;  // as set, it does not grow
    ::setsockopt(client.stream().file(), SOL_SOCKET, SO_RCVBUF, &receive_size, sizeof receive_size);
    client.bootstrap(
        "default",
        {wire::hello_feature::xerror, wire::hello_feature::duplex,
         wire::hello_feature::clustermap_change_notification, wire::hello_feature::collections});
    ASSERT_TRUE(cluster->add_node());
    ASSERT_TRUE(cluster->rebalance({}, milliseconds(0)));
    const auto ended = cluster->wait_rebalance(patience);
    ASSERT_TRUE(ended);
    EXPECT_EQ(ended->moves_done, 512u);
    wire::configuration_revision newest;
    cluster->with_cluster([&](sandbox::cluster& brain) {
        newest = brain.topology().configuration_revision(node_id{0}, "default").value();
    });
    std::size_t pushed_count = 0;
    std::size_t pushed_size = 0;
    wire::configuration_revision seen;
    while (seen < newest) {
        const auto pushed = client.receive();
        ASSERT_TRUE(pushed);
        seen = wire::parse_cluster_configuration(pushed->value).value()->revision();
        ++pushed_count;
        pushed_size += pushed->value.size();
    }
    EXPECT_LT(pushed_count, 200u);
    EXPECT_LT(pushed_size, 2'000'000u);
}

TEST(sandbox_net_topology, a_graceful_failover_and_an_add_back_use_the_old_ports) {
    const auto cluster = start_nodes(3);
    ASSERT_TRUE(cluster->graceful_failover(node_id{2}, milliseconds(0)));
    ASSERT_EQ(cluster->wait_rebalance(patience)->end, rebalance_end::finished);
    EXPECT_FALSE(raw_socket(kv_of(*cluster, 2)).is_connected());
    cluster->with_cluster(
        [](sandbox::cluster& brain) { ASSERT_TRUE(brain.topology().add_back(node_id{2})); });
    ASSERT_TRUE(cluster->rebalance({}, milliseconds(0)));
    ASSERT_EQ(cluster->wait_rebalance(patience)->end, rebalance_end::finished);
    raw_client client(kv_of(*cluster, 2));
    client.bootstrap();
    EXPECT_EQ(ask_configuration(client)->kv_node_count(), 3u);
}

TEST(sandbox_net_topology, a_node_added_directly_to_the_cluster_gets_ports_too) {
    const auto cluster = start_nodes(1);
    cluster->with_cluster(
        [](sandbox::cluster& brain) { ASSERT_TRUE(brain.topology().add_node()); });
    raw_client client(kv_of(*cluster, 0));
    client.bootstrap();
    const auto configuration = ask_configuration(client);
    ASSERT_EQ(configuration->nodes().size(), 2u);
    const auto port =
        configuration->nodes()[1].ports.port(wire::service::key_value, wire::transport::plain);
    EXPECT_TRUE(raw_socket(port).is_connected());
    EXPECT_EQ(cluster->add_node()->node, node_id{2});
}

TEST(sandbox_net_topology, fixed_ports_of_added_nodes_follow_the_control_port) {
    // Any block of free ports will do; the first try nearly always succeeds.
    for (std::uint16_t port = 23'000; port < 23'500; port = static_cast<std::uint16_t>(port + 50)) {
        server_options options;
        options.cluster.node_count = 2;
        options.port = port;
        options.services = {};
        auto started = embedded_cluster::start(options);
        if (!started) {
            continue;
        }
        const auto first = (*started)->add_node();
        const auto second = (*started)->add_node();
        if (!first || !second) {
            continue;
        }
        EXPECT_TRUE((*started)->addresses().control_url.contains(std::to_string(port + 8)));
        EXPECT_EQ(first->ports.port(wire::service::key_value), port + 9);
        EXPECT_EQ(first->ports.port(wire::service::management), port + 11);
        EXPECT_EQ(second->ports.port(wire::service::key_value), port + 13);
        return;
    }
    FAIL() << "no free ports";
}

TEST(sandbox_net_topology, ports_beyond_the_last_one_are_refused) {
    server_options options;
    options.cluster.node_count = 1;
    options.port = 65'530;
    options.services = {};
    auto started = embedded_cluster::start(options);
    ASSERT_TRUE(started) << started.error();
    EXPECT_EQ((*started)->add_node().error(), "the port number is too high for this many nodes");
    (*started)->with_cluster(
        [](sandbox::cluster& brain) { EXPECT_EQ(brain.topology().nodes().size(), 1u); });
}

TEST(sandbox_net_topology, the_control_port_adds_rebalances_and_restarts) {
    const auto cluster = start_nodes(2);
    const json::value added = control(*cluster, {{"command", "node_add"}});
    EXPECT_EQ(added.find("node")->as_uint64(), 2u);
    EXPECT_TRUE(
        raw_socket(static_cast<std::uint16_t>(*added.find("kv")->as_uint64())).is_connected());
    const json::value begun = control(*cluster, {{"command", "rebalance"}, {"interval_ms", 0}});
    EXPECT_EQ(begun.find("rebalance")->find("running")->as_bool(), true);
    ASSERT_EQ(cluster->wait_rebalance(patience)->end, rebalance_end::finished);
    const json::value topology = control(*cluster, {{"command", "topology"}});
    for (std::size_t node = 0; node < 3; ++node) {
        const auto active = topology.find("nodes")->at(node)->find("active")->as_uint64();
        EXPECT_GE(*active, 341u);
        EXPECT_LE(*active, 342u);
    }
    raw_client client(kv_of(*cluster, 1));
    client.bootstrap();
    control(*cluster, {{"command", "node_restart"}, {"node", 1}});
    EXPECT_FALSE(client.receive());
    EXPECT_TRUE(raw_socket(kv_of(*cluster, 1)).is_connected());
}

TEST(sandbox_net_topology, an_older_timer_does_not_step_a_manual_rebalance) {
    const auto cluster = start_nodes(3);
    ASSERT_TRUE(cluster->rebalance({.eject = {node_id{2}}}, milliseconds(1)));
    cluster->with_cluster([](sandbox::cluster& brain) {
        ASSERT_TRUE(brain.topology().stop_rebalance());
        ASSERT_TRUE(brain.topology().begin_rebalance({.eject = {node_id{1}}}));
    });
    EXPECT_FALSE(cluster->wait_rebalance(milliseconds(50)));
    cluster->with_cluster([](sandbox::cluster& brain) {
        EXPECT_EQ(brain.topology().rebalance_status().moves_done, 0u);
        ASSERT_TRUE(brain.topology().stop_rebalance());
    });
    EXPECT_EQ(cluster->wait_rebalance(patience)->end, rebalance_end::stopped);
}

TEST(sandbox_net_topology, stopping_the_cluster_ends_a_wait) {
    const auto cluster = start_nodes(2);
    ASSERT_TRUE(cluster->rebalance({.eject = {node_id{1}}}, std::chrono::hours(1)));
    cluster->stop();
    EXPECT_FALSE(cluster->wait_rebalance(patience));
    EXPECT_FALSE(cluster->add_node());
}

// While it lives, no thread of this process gets a descriptor.
class no_descriptors {
public:
    no_descriptors() {
        ::getrlimit(RLIMIT_NOFILE, &before_);
        rlimit none = before_;
        none.rlim_cur = 3;
        ::setrlimit(RLIMIT_NOFILE, &none);
    }
    ~no_descriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }
    no_descriptors(const no_descriptors&) = delete;
    no_descriptors& operator=(const no_descriptors&) = delete;

private:
    rlimit before_{};
};

// A node that went down and up while descriptors were scarce never got a port again: everything
// that needed it ran into a timeout.
TEST(sandbox_net_topology, a_node_that_is_up_listens_again_once_there_are_descriptors) {
    const auto cluster = start_nodes(2);
    const auto set_up = [&](bool is_up) {
        cluster->with_cluster([&](sandbox::cluster& brain) {
            ASSERT_TRUE(brain.topology().set_node_state(node_id{1}, is_up));
        });
    };
    {
        const no_descriptors short_of_them;
        set_up(false);
        set_up(true);
    }
    const auto until = std::chrono::steady_clock::now() + patience;
    bool is_back = false;
    while (!is_back && std::chrono::steady_clock::now() < until) {
        is_back = raw_socket(kv_of(*cluster, 1)).is_connected();
        static_cast<void>(cluster->session_count());  // an iteration of the server's loop
    }
    EXPECT_TRUE(is_back);
}

}  // namespace reprise::sandbox::net_topology_test
