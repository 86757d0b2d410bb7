#include <gtest/gtest.h>

#include "connections/peer_address.hpp"
#include "engine_driver.hpp"

// Without TLS, HTTP sends credentials to this machine only, unless the options allow more.

namespace reprise::engine::testing::http_plain_tests {

class http_plain : public ::testing::Test {
protected:
    http_plain() {
        cluster_.nodes[0].services.set(wire::service::query, wire::transport::plain, 8093);
        cluster_.nodes[0].services.set(wire::service::query, wire::transport::tls, 18093);
        cluster_.answer_http({.body = R"({"results":[]})"});
    }
    engine_driver::outcome_ptr ask(engine_driver& driver) {
        auto done = driver.settled(driver.start_http(readonly_request("{}")));
        return done;
    }
    void expect_sent(engine_driver& driver) {
        const auto done = ask(driver);
        ASSERT_TRUE(done->has_succeeded()) << done->result.ec.message();
        EXPECT_EQ(cluster_.http_requests.size(), 1U);
    }

    scripted_cluster cluster_{1};
};

TEST_F(http_plain, is_allowed_to_the_machine_itself_by_default) {
    for (const char* address : {"127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"}) {
        SCOPED_TRACE(address);
        cluster_.http_requests.clear();
        engine_driver driver(cluster_);
        driver.peer_address = address;
        driver.connect();
        expect_sent(driver);
    }
}

// Nothing is written to that connection, not even a request without credentials.
TEST_F(http_plain, to_another_machine_fails_at_once_and_sends_nothing) {
    for (const char* address : {"10.0.0.1", "::ffff:10.0.0.1", "fe80::1", ""}) {
        SCOPED_TRACE(address);
        engine_driver driver(cluster_);
        driver.peer_address = address;
        driver.connect();
        const auto done = ask(driver);
        ASSERT_EQ(done->code(), errc::plain_http_not_allowed);
        EXPECT_FALSE(done->result.error->is_ambiguous);
        EXPECT_EQ(describe(errc::plain_http_not_allowed).safety, retry_safety::no);
        ASSERT_NE(done->result.history, nullptr);
        EXPECT_EQ(done->result.history->entries[0].refusal(), refusal_reason::not_allowed);
        for (const std::string_view way :
             {"couchbases://", "cluster_options::allow_plain_http", "allow_plain_http=true",
              "--allow-plain-http", "the password"}) {
            EXPECT_NE(done->result.error->detail.find(way), std::string::npos)
                << way << " in: " << done->result.error->detail;
        }
        driver.advance(100ms);
        EXPECT_TRUE(cluster_.http_requests.empty());
        const auto upserted = driver.settled(driver.upsert("k", "v"));
        EXPECT_FALSE(upserted->result.ec) << "key-value has its own breaker";
    }
}

// A name such as localhost does not guarantee that the address is local.
TEST_F(http_plain, is_judged_by_the_address_and_never_by_the_name) {
    for (const char* name : {"localhost", "127.0.0.1", "127.evil.example"}) {
        SCOPED_TRACE(name);
        cluster_.nodes[0].host = name;
        engine_driver driver(cluster_);
        driver.peer_address = "192.0.2.7";
        driver.connect();
        const auto done = ask(driver);
        ASSERT_EQ(done->code(), errc::plain_http_not_allowed);
        EXPECT_NE(done->result.error->detail.find("192.0.2.7"), std::string::npos);
    }
    EXPECT_TRUE(cluster_.http_requests.empty());
}

TEST_F(http_plain, a_bearer_token_is_withheld_like_a_password) {
    engine_driver driver(cluster_);
    driver.peer_address = "10.0.0.1";
    driver.connect();
    credentials by_token;
    by_token.bearer_token = "aa.bb.cc";
    driver.engine().replace_credentials(by_token);
    const auto done = ask(driver);
    ASSERT_EQ(done->code(), errc::plain_http_not_allowed);
    EXPECT_NE(done->result.error->detail.find("the bearer token"), std::string::npos);
    EXPECT_TRUE(cluster_.http_requests.empty());
}

TEST_F(http_plain, goes_anywhere_if_it_is_allowed) {
    engine_driver driver(cluster_, {{.allow_plain_http = true}});
    driver.peer_address = "10.0.0.1";
    driver.connect();
    expect_sent(driver);
}

TEST_F(http_plain, allowing_plain_logins_does_not_allow_it) {
    engine_driver driver(cluster_, {{.allow_plain_without_tls = true}});
    driver.peer_address = "10.0.0.1";
    driver.connect();
    EXPECT_EQ(ask(driver)->result.ec, errc::plain_http_not_allowed);
    EXPECT_TRUE(cluster_.http_requests.empty());
}

TEST_F(http_plain, tls_needs_no_permission) {
    engine_driver driver(cluster_);
    driver.made_options.transport = wire::transport::tls;
    driver.peer_address = "10.0.0.1";
    driver.connect();
    expect_sent(driver);
}

// The peer may be a relay, even on this machine.
TEST_F(http_plain, tls_without_verification_needs_permission) {
    for (const char* address : {"10.0.0.1", "127.0.0.1"}) {
        engine_driver driver(cluster_, {{.tls = {.is_verified = false}}});
        driver.made_options.transport = wire::transport::tls;
        driver.peer_address = address;
        driver.connect();
        const auto done = ask(driver);
        EXPECT_EQ(done->code(), errc::plain_http_not_allowed) << address << address;
    }
    EXPECT_TRUE(cluster_.http_requests.empty());
}

TEST_F(http_plain, every_waiting_call_fails_and_none_is_forgotten) {
    engine_driver driver(cluster_, {{.http_connections_per_node_max = 1}});
    driver.peer_address = "10.0.0.1";
    driver.connect();
    std::vector<engine_driver::outcome_ptr> all;
    for (int round = 0; round < 5; ++round) {
        all.push_back(driver.start_http(readonly_request("{}")));
    }
    driver.settle();
    for (const auto& one : all) {
        EXPECT_EQ(one->code(), errc::plain_http_not_allowed);
    }
    EXPECT_EQ(driver.engine().statistics().operations_parked, 0U);
}

TEST(peer_address, only_addresses_of_this_machine_are_loopback) {
    for (const char* inside : {"127.0.0.1", "127.255.255.255", "::1", "::ffff:127.0.0.1"}) {
        EXPECT_TRUE(is_loopback(inside)) << inside;
    }
    for (const char* outside :
         {"", "128.0.0.1", "10.127.0.1", "::", "::2", "1::1", "::ffff:10.0.0.1", "127.0.0",
          "127.0.0.1.example", "127.0.0.256", "127.0.0.1 ", "localhost", "0.0.0.0", "fe80::1",
          "127...1", "::ffff:", "[::1]"}) {
        EXPECT_FALSE(is_loopback(outside)) << outside;
    }
}

}  // namespace reprise::engine::testing::http_plain_tests
