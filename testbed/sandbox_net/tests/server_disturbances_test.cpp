#include <poll.h>

#include <cerrno>
#include <chrono>
#include <future>
#include <memory>
#include <string>

#include <gtest/gtest.h>
#include <openssl/err.h>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <reprise/sandbox_net/embedded_cluster.hpp>
#include <reprise/sandbox_net/server.hpp>

#include "raw_client.hpp"

// Disturbances of a node as its peers see them on their sockets.

namespace reprise::sandbox::disturbances_test {

using raw::raw_client;
using raw::raw_socket;
using raw::raw_stream;
using wire::status;
using namespace std::chrono_literals;

std::unique_ptr<embedded_cluster> start(bool has_tls = false) {
    server_options options;
    options.cluster.node_count = 2;
    options.cluster.replica_count = 1;
    options.tls.is_enabled = has_tls;
    return raw::start_cluster(std::move(options));
}

void disturb(embedded_cluster& cluster, const node_disturbance& how) {
    cluster.with_cluster([&how](sandbox::cluster& brain) {
        EXPECT_TRUE(brain.disturbances().set(node_id{0}, how));
    });
}

std::uint16_t port_of(const embedded_cluster& cluster, std::size_t node = 0) {
    return cluster.addresses().nodes.at(node).port(wire::service::key_value);
}

bool has_bytes(raw_stream& stream) {
    pollfd wanted{stream.file(), POLLIN, 0};
    return ::poll(&wanted, 1, 0) > 0;
}

// Has a complete conversation with the other node; by then node 0 has done what it could do at
// once.
void talk_to_node_1(const embedded_cluster& cluster) {
    raw_client other(port_of(cluster, 1));
    other.bootstrap();
}

// A key whose active copy is on node 0 of two.
std::string key_on_node_0() {
    for (int i = 0;; ++i) {
        std::string key = "key_" + std::to_string(i);
        if (wire::vbucket_of(key, 1024).value < 512) {
            return key;
        }
    }
}

TEST(sandbox_disturbance, a_frozen_node_answers_once_it_is_released) {
    const auto cluster = start();
    raw_client client(port_of(*cluster));
    client.bootstrap();
    disturb(*cluster, {.is_frozen = true});
    client.send(wire::empty_request{wire::opcode::noop});
    raw_client late(port_of(*cluster));
    ASSERT_TRUE(late.stream().is_open());
    late.send(wire::hello_request{"late", {}});
    talk_to_node_1(*cluster);
    EXPECT_FALSE(has_bytes(client.stream()));
    EXPECT_FALSE(has_bytes(late.stream()));
    disturb(*cluster, {});
    ASSERT_TRUE(client.receive());
    EXPECT_TRUE(late.receive());
}

TEST(sandbox_disturbance, a_partitioned_node_receives_and_sends_nothing_until_it_ends) {
    const auto cluster = start();
    raw_client client(port_of(*cluster));
    client.bootstrap();
    disturb(*cluster, {.is_partitioned = true});
    client.send(wire::empty_request{wire::opcode::noop});
    raw_client late(port_of(*cluster));
    ASSERT_TRUE(late.stream().is_open()) << "the system accepts it";
    late.send(wire::hello_request{"late", {}});
    talk_to_node_1(*cluster);
    EXPECT_FALSE(has_bytes(client.stream()));
    EXPECT_FALSE(has_bytes(late.stream()));
    cluster->with_cluster([](sandbox::cluster& brain) {
        EXPECT_EQ(brain.audit().count({.op = wire::opcode::noop}), 0u);
    });
    disturb(*cluster, {});
    EXPECT_TRUE(client.receive());
    EXPECT_TRUE(late.receive());
}

TEST(sandbox_disturbance, a_node_that_refuses_connections_keeps_existing_ones) {
    const auto cluster = start();
    raw_client client(port_of(*cluster));
    client.bootstrap();
    disturb(*cluster, {.refuses_connections = true});
    errno = 0;
    const raw_socket refused(port_of(*cluster));
    EXPECT_FALSE(refused.is_connected());
    EXPECT_EQ(errno, ECONNREFUSED);
    EXPECT_TRUE(client.call(wire::empty_request{wire::opcode::noop}));
    disturb(*cluster, {});
    raw_client again(port_of(*cluster));
    again.bootstrap();
}

// A test that ran in parallel took the port of a node that was down, and the node never came up
// again.
TEST(sandbox_disturbance, the_port_of_a_node_that_is_down_stays_reserved) {
    const auto cluster = start();
    cluster->with_cluster(
        [](sandbox::cluster& brain) { EXPECT_TRUE(brain.topology().kill(node_id{0})); });
    boost::asio::io_context io;
    boost::asio::ip::tcp::socket other(io, boost::asio::ip::tcp::v4());
    boost::system::error_code ec;
    other.bind({boost::asio::ip::address_v4::loopback(), port_of(*cluster)}, ec);
    EXPECT_EQ(ec, boost::asio::error::address_in_use);
    cluster->with_cluster([](sandbox::cluster& brain) {
        EXPECT_TRUE(brain.topology().set_node_state(node_id{0}, true));
    });
    raw_client again(port_of(*cluster));
    again.bootstrap();
}

TEST(sandbox_disturbance, a_killed_node_resets_its_connections_and_closes_its_ports) {
    const auto cluster = start();
    raw_client client(port_of(*cluster));
    client.bootstrap();
    cluster->with_cluster(
        [](sandbox::cluster& brain) { EXPECT_TRUE(brain.topology().kill(node_id{0})); });
    errno = 0;
    EXPECT_TRUE(client.stream().receive().empty());
    EXPECT_EQ(errno, ECONNRESET);
    EXPECT_FALSE(raw_socket(port_of(*cluster)).is_connected());
    EXPECT_FALSE(raw_socket(cluster->addresses().nodes.at(0).port(wire::service::management))
                     .is_connected());
    cluster->with_cluster([](sandbox::cluster& brain) {
        EXPECT_TRUE(brain.topology().set_node_state(node_id{0}, true));
    });
    raw_client again(port_of(*cluster));
    again.bootstrap();
}

TEST(sandbox_disturbance, RH_26_tls_handshakes_fail_in_each_way_until_it_is_removed) {
    const auto cluster = start(true);
    const std::uint16_t port =
        cluster->addresses().nodes.at(0).port(wire::service::key_value, wire::transport::tls);
    const raw::tls_options trust{cluster->addresses().ca_path, {}};
    raw_client before(port, trust);
    before.bootstrap();
    struct expectation {
        tls_disturbance how;
        long reason;
    };
    for (const auto& [how, reason] : {
             expectation{tls_disturbance::wrong_host, X509_V_ERR_IP_ADDRESS_MISMATCH},
             expectation{tls_disturbance::expired, X509_V_ERR_CERT_HAS_EXPIRED},
             expectation{tls_disturbance::untrusted, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY},
         }) {
        disturb(*cluster, {.tls = how});
        raw_stream stream(port, trust);
        EXPECT_FALSE(stream.is_open());
        EXPECT_EQ(stream.verify_result(), reason);
    }
    ERR_clear_error();
    disturb(*cluster, {.tls = tls_disturbance::alert});
    EXPECT_FALSE(raw_stream(port, trust).is_open());
    EXPECT_EQ(ERR_GET_REASON(ERR_peek_last_error()), SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE);
    ERR_clear_error();
    disturb(*cluster, {.tls = tls_disturbance::reset});
    errno = 0;
    EXPECT_FALSE(raw_stream(port, trust).is_open());
    EXPECT_EQ(ERR_peek_last_error(), 0u) << "a reset causes no TLS alert";
    EXPECT_TRUE(before.call(wire::empty_request{wire::opcode::noop}));
    disturb(*cluster, {});
    raw_client after(port, trust);
    after.bootstrap();
}

TEST(sandbox_disturbance, stopping_forgets_peers_that_were_about_to_be_reset) {
    const auto cluster = start(true);
    disturb(*cluster, {.tls = tls_disturbance::reset});
    raw_stream silent(
        cluster->addresses().nodes.at(0).port(wire::service::key_value, wire::transport::tls));
    ASSERT_TRUE(silent.is_open());
    cluster->with_cluster([](sandbox::cluster&) {});
    cluster->stop();
    EXPECT_TRUE(silent.receive().empty());
}

TEST(sandbox_disturbance, the_management_port_of_a_frozen_node_is_silent) {
    const auto cluster = start();
    raw_stream http(cluster->addresses().nodes.at(0).port(wire::service::management));
    disturb(*cluster, {.is_frozen = true});
    http.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    talk_to_node_1(*cluster);
    EXPECT_FALSE(has_bytes(http));
    disturb(*cluster, {});
    EXPECT_TRUE(http.receive_until("sandbox").contains("200 OK"));
}

TEST(sandbox_disturbance, a_pending_durable_write_is_answered_once_its_replicas_have_it) {
    const auto cluster = start();
    cluster->with_cluster(
        [](sandbox::cluster& brain) { brain.durability().set_replication_delay(30ms); });
    raw_client client(port_of(*cluster));
    client.bootstrap(
        "default", {wire::hello_feature::xerror, wire::hello_feature::select_bucket,
                    wire::hello_feature::collections, wire::hello_feature::alt_request_support,
                    wire::hello_feature::sync_replication});
    const std::string key = key_on_node_0();
    wire::store_request request;
    request.key.key = key;
    wire::request_header header = raw::at_key(key);
    header.frame_infos.emplace().durability = wire::durability_requirement{};
    const auto began = std::chrono::steady_clock::now();
    const auto answered = client.call(request, header);
    ASSERT_TRUE(answered);
    EXPECT_EQ(answered->status(), status::success);
    EXPECT_GE(std::chrono::steady_clock::now() - began, 30ms);
}

TEST(sandbox_disturbance, a_pending_write_progresses_without_its_client) {
    const auto cluster = start();
    std::promise<void> committed;
    cluster->with_cluster([&committed](sandbox::cluster& brain) {
        brain.durability().set_replication_delay(30ms);
        brain.audit().set_observer([&committed](const audit_entry& entry) {
            if (entry.fate == answer_fate::committed) {
                committed.set_value();
            }
        });
    });
    {
        raw_client client(port_of(*cluster));
        client.bootstrap(
            "default", {wire::hello_feature::xerror, wire::hello_feature::select_bucket,
                        wire::hello_feature::collections, wire::hello_feature::alt_request_support,
                        wire::hello_feature::sync_replication});
        const std::string key = key_on_node_0();
        wire::store_request request;
        request.key.key = key;
        wire::request_header header = raw::at_key(key);
        header.frame_infos.emplace().durability = wire::durability_requirement{};
        client.send(request, header);
        client.send(wire::empty_request{wire::opcode::quit});
    }
    EXPECT_EQ(committed.get_future().wait_for(30s), std::future_status::ready);
    cluster->with_cluster([](sandbox::cluster& brain) { brain.audit().set_observer({}); });
}

}  // namespace reprise::sandbox::disturbances_test
