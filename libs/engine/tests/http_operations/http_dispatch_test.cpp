#include <gtest/gtest.h>

#include <reprise/http/authorization.hpp>

#include "engine_driver.hpp"

// Tests which credentials an HTTP request contains, and where.

namespace reprise::engine::testing {
namespace {

class http_credentials : public ::testing::Test {
protected:
    http_credentials() : cluster_(1) {
        cluster_.nodes[0].services.set(wire::service::query, wire::transport::plain, 8093);
        cluster_.answer_http({.body = R"({"results":[]})"});
    }
    const http::request& ask(engine_driver& driver) {
        driver.start_http(readonly_request(R"({"statement":"SELECT 1"})"));
        driver.settle();
        return cluster_.http_requests.back().request;
    }
    static std::string authorization(const http::request& sent) {
        return std::string(http::find_header(sent.headers, "Authorization").value_or("none"));
    }
    static credentials by_token(std::string_view token) {
        credentials identity;
        identity.bearer_token = token;
        return identity;
    }

    scripted_cluster cluster_;
};

TEST_F(http_credentials, the_latest_are_sent_on_a_kept_connection) {
    connected_driver driver(cluster_);
    EXPECT_EQ(authorization(ask(driver)), http::make_basic_authorization("app", "secret"));
    driver.engine().replace_credentials(by_token("first.token"));
    EXPECT_EQ(authorization(ask(driver)), "Bearer first.token");
    driver.engine().replace_credentials(by_token("second.token"));
    EXPECT_EQ(authorization(ask(driver)), "Bearer second.token");
    EXPECT_EQ(cluster_.http_requests.front().connection, cluster_.http_requests.back().connection);
}

TEST_F(http_credentials, a_client_certificate_replaces_the_header) {
    engine_driver driver(cluster_);
    driver.made_options.tls.certificate_file = "client.pem";
    driver.connect();
    EXPECT_EQ(authorization(ask(driver)), "none");
}

TEST_F(http_credentials, are_in_one_header_and_nowhere_else) {
    connected_driver driver(cluster_);
    const http::request sent = ask(driver);
    const std::string encoded = http::make_basic_authorization("app", "secret").substr(6);
    std::string rest = sent.method + sent.target + sent.body;
    for (const auto& header : sent.headers) {
        if (header.name != "Authorization") {
            rest += header.name + header.value;
        }
    }
    EXPECT_EQ(rest.find("secret"), std::string::npos) << rest;
    EXPECT_EQ(rest.find(encoded), std::string::npos) << rest;
}

// Operations that wait for a connection to a node that leaves.
class http_leaving_node : public ::testing::Test {
protected:
    static constexpr std::uint16_t port = 8093;

    http_leaving_node() : cluster_(2) {
        cluster_.nodes[0].services.set(wire::service::query, wire::transport::plain, port);
        cluster_.on_http = [](const seen_http_request& seen) {
            scripted_http_answer made;
            made.body = R"({"results":[]})";
            made.is_silent = seen.request.body == "long" || seen.request.target == "/admin/ping";
            return made;
        };
    }
    // The service moves to the other node.
    void move_service(engine_driver& driver) {
        cluster_.nodes[0].services = {};
        cluster_.nodes[1].services.set(wire::service::query, wire::transport::plain, port);
        ++cluster_.revision.rev;
        driver.push_configuration(driver.connections_to(1)[0], 1, false);
        driver.settle();
    }

    scripted_cluster cluster_;
};

// They waited until the connection attempt timed out.
TEST_F(http_leaving_node, frees_requests_that_wait_for_a_connection_to_it) {
    cluster_.nodes[0].ignores_http_connections = true;
    connected_driver driver(cluster_);
    const auto waiting = driver.after(100ms, driver.start_http(query_request("{}")));
    ASSERT_EQ(waiting->calls, 0);
    move_service(driver);
    EXPECT_TRUE(waiting->has_succeeded());
    EXPECT_EQ(waiting->result.retry_attempts, 0U);
    ASSERT_EQ(cluster_.http_requests.size(), 1U);
    EXPECT_EQ(cluster_.http_requests[0].node, 1U);
}

// They waited until their deadline, while new requests succeeded at once.
TEST_F(http_leaving_node, frees_requests_that_wait_behind_a_long_answer) {
    engine_options options;
    options.http_connections_per_node_max = 1;
    connected_driver driver(cluster_, options);
    const auto long_one = driver.settled(driver.start_http(readonly_request("long")));
    const auto waiting = driver.after(100ms, driver.start_http(query_request("{}")));
    ASSERT_EQ(waiting->calls, 0);
    move_service(driver);
    EXPECT_TRUE(waiting->has_succeeded());
    EXPECT_EQ(cluster_.http_requests.back().node, 1U);
    EXPECT_EQ(long_one->calls, 0) << "its request may still be answered";
}

// A node that stopped answering while a request was on its way. Those that waited for another
// connection to it stayed there until their deadline, because of the one that was still open.
TEST_F(http_leaving_node, frees_requests_whose_connection_cannot_be_opened_beside_an_open_one) {
    for (scripted_node& node : cluster_.nodes) {
        node.services.set(wire::service::query, wire::transport::plain, port);
    }
    connected_driver driver(cluster_);
    std::vector<engine_driver::outcome_ptr> long_ones;
    for (int count = 0; count < 2; ++count) {
        long_ones.push_back(driver.settled(driver.start_http(readonly_request("long"))));
    }
    ASSERT_EQ(cluster_.http_requests.size(), 2U);
    ASSERT_NE(cluster_.http_requests[0].node, cluster_.http_requests[1].node);
    cluster_.nodes[0].ignores_http_connections = true;
    std::vector<engine_driver::outcome_ptr> short_ones;
    for (int count = 0; count < 2; ++count) {
        short_ones.push_back(driver.start_http(query_request("{}")));
    }
    driver.advance(10s);
    for (const auto& each : short_ones) {
        ASSERT_EQ(each->calls, 1);
        EXPECT_TRUE(each->has_succeeded()) << each->result.ec.message();
        EXPECT_EQ(each->result.retry_attempts, 0U);
    }
    for (const auto& each : long_ones) {
        EXPECT_EQ(each->calls, 0);
    }
}

TEST_F(http_leaving_node, RH_34_gets_no_canary_that_waits_for_a_connection) {
    engine_options options;
    options.http_connections_per_node_max = 1;
    options.circuit_breaker.emplace();
    options.circuit_breaker->volume_threshold = 4;
    connected_driver driver(cluster_, options);
    for (int index = 0; index < 4; ++index) {
        auto asked = readonly_request("long");
        asked.timeout = 10ms;
        driver.start_http(std::move(asked));
        driver.advance(20ms);
    }
    cluster_.http_requests.clear();
    cluster_.nodes[0].ignores_http_connections = true;
    const std::size_t connects = driver.connects.size();
    driver.advance(6s);
    ASSERT_EQ(driver.connects.size(), connects + 1) << "the canary waits for it";
    move_service(driver);
    driver.advance(60s);
    EXPECT_TRUE(cluster_.http_requests.empty());
}

// Its connection cannot be opened, and another one to its node is busy.
TEST_F(http_leaving_node, RH_34_gets_no_canary_of_a_node_without_a_further_connection) {
    for (scripted_node& node : cluster_.nodes) {
        node.services.set(wire::service::query, wire::transport::plain, port);
    }
    cluster_.on_http = [](const seen_http_request& seen) {
        scripted_http_answer made;
        made.body = R"({"results":[]})";
        made.is_silent = seen.node == 0;
        return made;
    };
    engine_options options;
    options.circuit_breaker.emplace();
    options.circuit_breaker->volume_threshold = 4;
    connected_driver driver(cluster_, options);
    for (int count = 0; count < 2; ++count) {
        driver.settled(driver.start_http(readonly_request("long")));
    }
    for (int count = 0; count < 8; ++count) {
        auto asked = readonly_request("short");
        asked.timeout = 10ms;
        driver.start_http(std::move(asked));
        driver.advance(20ms);
    }
    cluster_.nodes[0].ignores_http_connections = true;
    cluster_.http_requests.clear();
    const std::size_t connects = driver.connects.size();
    driver.advance(30s);
    EXPECT_GT(driver.connects.size(), connects) << "canaries wait for them";
    for (const auto& seen : cluster_.http_requests) {
        EXPECT_NE(seen.request.target, "/admin/ping") << seen.node;
    }
}

}  // namespace
}  // namespace reprise::engine::testing
