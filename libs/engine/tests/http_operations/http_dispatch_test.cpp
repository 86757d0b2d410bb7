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

}  // namespace
}  // namespace reprise::engine::testing
