#include <gtest/gtest.h>

#include <boost/asio/use_future.hpp>
#include <string>
#include <vector>

#include <reprise/couchbase/asio.hpp>

#include "live_services.hpp"

// Statements as a program runs them, with a server without faults.

namespace query_test {

using namespace live_services;
using couchbase::json_text;

TEST(query, rows_and_metadata_are_returned) {
    const auto [server, cluster] = connected(start_services());
    const auto result = must(cluster.query(
        "SELECT RAW n * 2 FROM ARRAY_RANGE(0, 3) AS n",
        {.readonly = true, .metrics = true, .client_context_id = "mine"}));
    ASSERT_EQ(result.rows.size(), 3U);
    std::vector<int> numbers;
    for (const couchbase::row_view row : result.rows) {
        numbers.push_back(row.as<int>().value());
    }
    EXPECT_EQ(numbers, (std::vector<int>{0, 2, 4}));
    EXPECT_EQ(result.metadata.status, "success");
    EXPECT_EQ(result.metadata.client_context_id, "mine");
    EXPECT_FALSE(result.metadata.request_id.empty());
    ASSERT_TRUE(result.metadata.metrics);
    EXPECT_EQ(result.metadata.metrics->result_count, 3U);
    EXPECT_EQ(result.trace.retry_attempts, 0U);
}

TEST(query, parameters_are_passed_by_position_and_by_name) {
    const auto [server, cluster] = connected(start_services());
    const auto by_position =
        must(cluster.query("SELECT RAW $1 || $2", {.readonly = true, .positional = {"a\"", "b"}}));
    EXPECT_EQ(by_position.rows[0].as<std::string>().value(), "a\"b");
    const auto by_name = must(cluster.query(
        "SELECT RAW $doc.n", {.readonly = true, .named = {{"doc", json_text{R"({"n":7})"}}}}));
    EXPECT_EQ(by_name.rows[0].as<int>().value(), 7);
}

TEST(query, values_that_are_not_json_are_refused_by_name) {
    const auto [server, cluster] = connected(start_services());
    const auto broken = must_fail(cluster.query("SELECT $x", {.named = {{"x", json_text{"{"}}}}));
    EXPECT_NE(broken.message().find("x"), std::string::npos) << broken;
    const auto empty = must_fail(cluster.query(""));
    EXPECT_EQ(empty.code(), errc::invalid_argument) << empty;
    EXPECT_EQ(requests_to(*server, service::query), 0U);
}

TEST(query, unqualified_names_are_resolved_in_the_scope) {
    const auto [server, cluster] = connected(start_services());
    const auto scope = cluster.bucket(bucket_name).scope("inventory");
    ASSERT_TRUE(scope.collection("airline").upsert("a", json_text{R"({"name":"x"})"}));
    const auto found =
        must(scope.query(R"(SELECT RAW name FROM airline USE KEYS "a")", {.readonly = true}));
    ASSERT_EQ(found.rows.size(), 1U);
    EXPECT_EQ(found.rows[0].as<std::string>().value(), "x");
}

TEST(query, the_error_contains_the_services_code_and_message) {
    const auto [server, cluster] = connected(start_services());
    const auto failed = must_fail(cluster.query("SELEKT 1", {.client_context_id = "bad one"}));
    EXPECT_EQ(failed.code(), errc::parsing_failure) << failed;
    EXPECT_EQ(failed.service_code(), 3000U);
    EXPECT_EQ(failed.info().server_ref, "bad one");
    EXPECT_FALSE(failed.info().server_context.empty());
    EXPECT_NE(failed.message().find("code 3000"), std::string::npos) << failed;
    EXPECT_EQ(seen(*server, "bad one").first, 1U);
}

TEST(query, statements_write_and_their_writes_can_be_waited_for) {
    const auto [server, cluster] = connected(start_services());
    const auto written = must(documents(cluster).upsert("k", json_text{R"({"n":1})"}));
    couchbase::mutation_state state;
    state.add(written.token);
    ASSERT_EQ(state.tokens.size(), 1U);
    const auto read = must(cluster.query(
        R"(SELECT RAW n FROM travel USE KEYS "k")", {.readonly = true, .consistent_with = state}));
    EXPECT_EQ(read.rows[0].as<int>().value(), 1);
    must(cluster.query(R"(UPDATE travel USE KEYS "k" SET n = 2 RETURNING RAW n)"));
    EXPECT_EQ(documents(cluster).get("k")->text(), R"({"n":2})");
}

TEST(query, RH_20_a_prepared_statement_is_prepared_once_and_again_if_the_service_lost_it) {
    const auto [server, cluster] = connected(start_services());
    const couchbase::query_options prepared{.readonly = true, .adhoc = false, .positional = {1}};
    const auto run = [&] { return cluster.query("SELECT RAW $1 + 1", prepared); };
    for (int i = 0; i < 3; ++i) {
        const auto result = must(run());
        EXPECT_EQ(result.rows[0].as<int>().value(), 2);
        EXPECT_EQ(result.trace.retry_attempts, 0U);
    }
    EXPECT_EQ(requests_to(*server, service::query), 3U);
    std::size_t known = 0;
    server->with_cluster([&](sandbox::cluster& at) {
        known = at.services().prepared_count();
        at.services().forget_prepared();
    });
    EXPECT_EQ(known, 1U);
    const auto again = must(run());
    EXPECT_EQ(again.trace.retry_attempts, 1U);
    ASSERT_NE(again.trace.history, nullptr);
    EXPECT_EQ(requests_to(*server, service::query), 5U);
}

void expect_prepared_in_two_requests(
    sandbox::embedded_cluster& server, const couchbase::cluster& cluster) {
    for (int i = 0; i < 2; ++i) {
        const auto result = must(cluster.query("SELECT RAW 5", {.readonly = true, .adhoc = false}));
        ASSERT_EQ(result.rows.size(), 1U);
        EXPECT_EQ(result.rows[0].as<int>().value(), 5);
    }
    EXPECT_EQ(requests_to(server, service::query), 3U);
}

TEST(query, old_servers_prepare_and_run_in_two_requests) {
    auto server_options = service_options();
    server_options.cluster.offers_enhanced_prepared = false;
    const auto server = start(std::move(server_options));
    expect_prepared_in_two_requests(*server, connect(*server));
}

TEST(query, statements_are_prepared_in_two_requests_on_request) {
    const auto server = start_services();
    auto options = app_options();
    options.enhanced_prepared_statements = false;
    expect_prepared_in_two_requests(*server, connect(*server, options));
}

TEST(query, a_result_beyond_the_bound_is_a_named_error) {
    const auto [server, cluster] = connected(start_services());
    const auto result = must_fail(cluster.query(
        "SELECT n FROM ARRAY_RANGE(0, 10000) AS n",
        {.readonly = true, .rows_size_max_bytes = 1000}));
    EXPECT_NE(result.message().find("rows_size_max_bytes"), std::string::npos) << result;
}

TEST(query, the_token_form_and_caller_driven_clients_return_the_same) {
    const auto [server, cluster] = connected(start_services());
    auto later = cluster.async_query("SELECT RAW 1", {.readonly = true}, boost::asio::use_future);
    const auto result = must(later.get());
    EXPECT_EQ(result.rows.size(), 1U);

    auto options = app_options();
    options.threads = couchbase::thread_mode::caller_drives;
    const auto driven = connect(*server, options);
    const auto second = must(driven.query("SELECT RAW 2", {.readonly = true}));
    EXPECT_EQ(second.rows[0].text(), "2");
}

TEST(query, runs_over_tls) {
    auto server_options = service_options();
    server_options.tls.is_enabled = true;
    const auto server = start(std::move(server_options));
    auto options = app_options();
    options.tls.ca_file = server->addresses().ca_path;
    const auto cluster =
        must(couchbase::cluster::connect(server->addresses().connection_string_tls, options));
    const auto result =
        must(cluster.query("SELECT n FROM ARRAY_RANGE(0, 20000) AS n", {.readonly = true}));
    EXPECT_EQ(result.rows.size(), 20000U);
}

}  // namespace query_test
