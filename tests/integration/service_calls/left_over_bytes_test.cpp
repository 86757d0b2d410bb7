#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "live_services.hpp"

// Bytes from a server that belong to no answer never become the answer to a request. Each case runs
// on plain sockets and with TLS.

namespace left_over_bytes_test {

using namespace live_services;

// An answer that a client must not take for its own.
std::string wrong_answer() {
    const std::string body = R"({"results":["wrong"],"status":"success"})";
    return "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: " +
           std::to_string(body.size()) + "\r\n\r\n" + body;
}

class left_over_bytes : public ::testing::TestWithParam<bool> {
protected:
    left_over_bytes() {
        auto options = service_options();
        options.cluster.node_count = 1;
        options.tls.is_enabled = GetParam();
        server_ = start(std::move(options));
        couchbase::cluster_options with = app_options();
        with.http_connections_per_node_max = 1;
        with.idle_http_connection_timeout = 60s;
        const auto& at = server_->addresses();
        with.tls.ca_file = GetParam() ? at.ca_path : "";
        cluster_ = couchbase::cluster::connect(
                       GetParam() ? at.connection_string_tls : at.connection_string, with)
                       .value();
    }
    void disturb_next_query(sandbox::service_fault_stray_bytes how) {
        add_rule(*server_, disturb(service::query, std::move(how)));
    }
    void expect_own_row(const std::string& row) {
        const auto result = must(cluster_->query("SELECT RAW '" + row + "'", {.readonly = true}));
        ASSERT_EQ(result.rows.size(), 1U);
        EXPECT_EQ(result.rows[0].as<std::string>().value(), row);
    }
    // Waits until no query connection is left.
    void await_close() {
        ASSERT_TRUE(await([&] { return query_connection_count() == 0; }))
            << "the connection is still open";
    }
    std::size_t query_connection_count() {
        std::size_t count = 0;
        const auto report = cluster_->diagnostics().value();
        for (const auto& each : report.endpoints) {
            count += each.service == couchbase::service_kind::query ? 1U : 0U;
        }
        return count;
    }

    std::unique_ptr<sandbox::embedded_cluster> server_;
    std::optional<couchbase::cluster> cluster_;
};

TEST_P(left_over_bytes, RH_47_bytes_behind_an_answer_are_not_the_answer_to_the_next_request) {
    for (int round = 0; round < 20; ++round) {
        disturb_next_query({.before = "", .after = wrong_answer(), .pause = 0ns});
        expect_own_row("first " + std::to_string(round));
        expect_own_row("second " + std::to_string(round));
    }
}

TEST_P(left_over_bytes, RH_47_bytes_on_an_idle_connection_close_it) {
    for (const std::string& stray : {std::string("\r\n"), wrong_answer()}) {
        disturb_next_query({.before = "", .after = stray, .pause = 1ms});
        expect_own_row("first");
        await_close();
        expect_own_row("second");
    }
}

TEST_P(left_over_bytes, RH_47_RH_16_a_request_written_before_stray_bytes_is_lost_in_flight) {
    disturb_next_query({.before = "\r\n", .after = "", .pause = 0ns});
    const auto read = must(cluster_->query("SELECT RAW 1", {.readonly = true}));
    EXPECT_EQ(read.trace.retry_attempts, 1U);
    disturb_next_query({.before = "\r\n", .after = "", .pause = 0ns});
    const auto written = must_fail(cluster_->query(
        R"(UPSERT INTO travel (KEY, VALUE) VALUES ("k", 1))", {.client_context_id = "lost"}));
    EXPECT_EQ(written.code(), errc::request_canceled) << written;
    EXPECT_TRUE(written.is_ambiguous());
    EXPECT_EQ(seen(*server_, "lost").first, 1U);
}

INSTANTIATE_TEST_SUITE_P(transports, left_over_bytes, ::testing::Bool(), [](const auto& of) {
    return of.param ? "tls" : "plain";
});

}  // namespace left_over_bytes_test
