#include <gtest/gtest.h>

#include <algorithm>
#include <boost/asio/use_future.hpp>
#include <string>

#include <reprise/couchbase/asio.hpp>

#include "live_services.hpp"

// Every result of a call to an HTTP service has the history of its retries, including streamed rows
// and managers.

namespace service_histories_test {

using namespace live_services;

void expect_one_retry(
    const couchbase::operation_trace& trace, retry_reason reason, const char* what) {
    EXPECT_EQ(trace.retry_attempts, 1U) << what;
    ASSERT_NE(trace.history, nullptr) << what;
    ASSERT_GE(trace.history->entries.size(), 1U) << what;
    EXPECT_EQ(trace.history->entries[0].reason_as<retry_reason>(), reason) << what;
    EXPECT_FALSE(couchbase::endpoint_of(*trace.history, trace.history->entries[0]).empty()) << what;
}

void expect_one_retry(const couchbase::error& failed, retry_reason reason, const char* what) {
    EXPECT_EQ(failed.retry_attempts(), 1U) << what << failed;
    ASSERT_NE(failed.history(), nullptr) << what << failed;
    EXPECT_EQ(failed.history()->entries[0].reason_as<retry_reason>(), reason) << what;
    EXPECT_TRUE(failed.retry_reasons().contains(reason)) << what;
    EXPECT_NE(failed.message().find(to_string(reason)), std::string::npos) << failed;
}

class service_histories : public ::testing::Test {
protected:
    void fail_next_query() {
        add_rule(*server_, disturb(service::query, query_error(1201, "queue full", true)));
    }
    void lose_next_management_request() {
        add_rule(*server_, disturb(service::management, sandbox::fault_close_before{}));
    }

    std::unique_ptr<sandbox::embedded_cluster> server_ = start_services();
    couchbase::cluster cluster_ = connect(*server_);
};

TEST_F(service_histories, RH_30_streamed_rows_have_one) {
    fail_next_query();
    auto rows = must(cluster_.query_stream("SELECT RAW 1", {.readonly = true}));
    EXPECT_EQ(rows.trace().history, nullptr) << "not known yet";
    must(rows.next());
    const auto end = must(rows.next());
    ASSERT_FALSE(end);
    expect_one_retry(rows.trace(), retry_reason::service_response_code_indicated, "stream");
}

TEST_F(service_histories, RH_30_rows_that_failed_have_one_in_their_error) {
    fail_next_query();
    add_rule(*server_, disturb(service::query, query_error(3000, "syntax")));
    auto rows = must(cluster_.query_stream("SELECT RAW 1", {.readonly = true}));
    const auto row = must_fail(rows.next());
    expect_one_retry(row, retry_reason::service_response_code_indicated, "error");
    expect_one_retry(rows.trace(), retry_reason::service_response_code_indicated, "stream");
}

TEST_F(service_histories, RH_30_managers_of_query_indexes_have_one) {
    constexpr auto reason = retry_reason::service_response_code_indicated;
    const auto indexes = cluster_.query_indexes({.bucket = bucket_name});
    fail_next_query();
    const auto made = must(indexes.create({.is_primary = true}));
    expect_one_retry(made.trace, reason, "create");
    fail_next_query();
    const auto listed = must(indexes.list());
    expect_one_retry(listed.trace, reason, "list");
    fail_next_query();
    const auto dropped = must(indexes.drop_primary());
    expect_one_retry(dropped.trace, reason, "drop");
}

TEST_F(service_histories, RH_30_managers_of_buckets_and_collections_have_one) {
    constexpr auto reason = retry_reason::socket_closed_while_in_flight;
    lose_next_management_request();
    const auto buckets = cluster_.buckets().list();
    ASSERT_TRUE(buckets) << words(buckets);
    expect_one_retry(buckets->trace, reason, "buckets");
    lose_next_management_request();
    const auto one = must(cluster_.buckets().get(bucket_name));
    expect_one_retry(one.trace, reason, "bucket");
    lose_next_management_request();
    const auto scopes = must(cluster_.bucket(bucket_name).collections().list());
    expect_one_retry(scopes.trace, reason, "scopes");
    const auto made = must(cluster_.bucket(bucket_name).collections().create_scope("fresh"));
    EXPECT_EQ(made.trace.retry_attempts, 0U);
    EXPECT_EQ(made.trace.history, nullptr) << "nothing was retried";
}

TEST_F(service_histories, asynchronous_managers_return_what_the_blocking_ones_do) {
    lose_next_management_request();
    const auto buckets = cluster_.buckets().async_list({}, boost::asio::use_future).get();
    ASSERT_TRUE(buckets) << words(buckets);
    expect_one_retry(buckets->trace, retry_reason::socket_closed_while_in_flight, "buckets");
    const auto one =
        must(cluster_.buckets().async_get(bucket_name, {}, boost::asio::use_future).get());
    EXPECT_EQ(one.bucket.name, bucket_name);
    const auto collections = cluster_.bucket(bucket_name).collections();
    const couchbase::collection_settings settings{.scope = "later", .name = "made"};
    ASSERT_TRUE(collections.async_create_scope("later", {}, boost::asio::use_future).get());
    ASSERT_TRUE(collections.async_create_collection(settings, {}, boost::asio::use_future).get());
    const auto scopes = collections.async_list({}, boost::asio::use_future).get();
    ASSERT_TRUE(scopes) << words(scopes);
    EXPECT_EQ(
        std::ranges::count(scopes->scopes, std::string("later"), &couchbase::scope_settings::name),
        1);
    const auto again =
        must_fail(collections.async_create_scope("later", {}, boost::asio::use_future).get());
    EXPECT_EQ(again.code(), couchbase::errc::scope_exists) << again;
}

// The second attempt was answered, but not with a list of buckets.
TEST_F(service_histories, RH_30_an_unreadable_answer_has_one) {
    lose_next_management_request();
    add_rule(
        *server_,
        disturb(service::management, sandbox::service_fault_answer{200, {}, "\x1b[2J not JSON"}));
    const auto buckets = must_fail(cluster_.buckets().list());
    EXPECT_EQ(buckets.code(), errc::decoding_failure) << buckets;
    expect_one_retry(buckets, retry_reason::socket_closed_while_in_flight, "unreadable");
}

// The server's text is shown, but it must not control the terminal.
TEST_F(service_histories, text_of_a_service_cannot_control_a_terminal) {
    add_rule(
        *server_, disturb(service::query, query_error(3000, "no\\u001b[2J\\nsuch \\u009b thing")));
    const auto rows = must_fail(cluster_.query("SELEKT", {.readonly = true}));
    const std::string text = rows.message();
    EXPECT_NE(text.find("no\\x1b[2J\\nsuch \\u009b thing"), std::string::npos) << text;
    EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

TEST_F(service_histories, a_long_statement_is_cut_in_its_error) {
    const std::string statement = "SELEKT " + std::string(100'000, 'x');
    const auto rows = must_fail(cluster_.query(statement, {.readonly = true}));
    EXPECT_EQ(rows.info().key.substr(0, 1024), statement.substr(0, 1024));
    EXPECT_NE(rows.info().key.find("more bytes)"), std::string::npos);
    EXPECT_LT(rows.message().size(), 4096U);
}

TEST_F(service_histories, names_with_a_meaning_in_paths_are_refused_before_anything_is_sent) {
    const auto before = requests_to(*server_, service::management);
    const auto bucket = cluster_.buckets().drop("..");
    ASSERT_FALSE(bucket);
    EXPECT_EQ(bucket.error().code(), errc::invalid_argument) << bucket.error();
    EXPECT_NE(bucket.error().message().find("dot_segment: bucket"), std::string::npos);
    const auto scope = must_fail(cluster_.bucket(bucket_name).collections().drop_scope("."));
    EXPECT_EQ(scope.code(), errc::invalid_argument) << scope;
    const auto view = must_fail(cluster_.bucket(bucket_name).view_query("..", "all"));
    EXPECT_EQ(view.code(), errc::invalid_argument) << view;
    EXPECT_EQ(requests_to(*server_, service::management), before);
    EXPECT_EQ(requests_to(*server_, service::views), 0U);
}

}  // namespace service_histories_test
