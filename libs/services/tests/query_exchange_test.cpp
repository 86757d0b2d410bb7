#include <gtest/gtest.h>

#include <reprise/couchbase_types/services.hpp>
#include <reprise/services/analytics_request.hpp>
#include <reprise/services/query_request.hpp>

namespace reprise::services {
namespace {

http_exchange& exchange_of(service_operation_result& made) {
    return *made.value().exchange;
}

exchange_result judged(http_exchange& by, int status, std::string_view body) {
    const http::header_list none;
    return by.judge({status, none, body, 0});
}

TEST(query_exchange, a_retry_sends_the_request_that_was_composed_first) {
    auto made = make_query_operation("SELECT 1");
    const service_call& first = exchange_of(made).compose(nullptr);
    const char* const bytes = first.body.data();
    EXPECT_EQ(first.body, make_query_call("SELECT 1")->body);
    EXPECT_EQ(exchange_of(made).compose(nullptr).body.data(), bytes);
}

TEST(query_exchange, a_statement_is_prepared_and_then_run_by_its_name) {
    query_plan plan;
    plan.cache = std::make_shared<prepared_cache>();
    auto made = make_query_operation("SELECT 1", {.adhoc = false}, {}, plan);
    const service_call preparing = exchange_of(made).compose(nullptr);
    EXPECT_NE(preparing.body.find("PREPARE"), std::string::npos);
    EXPECT_TRUE(preparing.rows_member.empty());
    EXPECT_TRUE(preparing.is_idempotent);
    const auto prepared = judged(
        exchange_of(made), 200,
        R"({"results":[{"name":"n1","encoded_plan":"p1"}],"status":"success"})");
    EXPECT_EQ(prepared.what, exchange_result::step::next);
    const service_call running = exchange_of(made).compose(nullptr);
    EXPECT_NE(running.body.find("n1"), std::string::npos);
    EXPECT_EQ(running.rows_member, "results");
    EXPECT_FALSE(running.is_idempotent);
}

// Only the members that name the statement are written again.
TEST(query_exchange, a_prepared_statement_keeps_the_other_members) {
    query_plan plan;
    plan.cache = std::make_shared<prepared_cache>();
    const query_options options{.readonly = true, .adhoc = false, .positional = {1}};
    auto made = make_query_operation("SELECT \"$1\"", options, {}, plan);
    const std::string rest = R"(,"readonly":true,"args":[1],"metrics":false})";
    EXPECT_EQ(
        exchange_of(made).compose(nullptr).body, R"({"statement":"PREPARE SELECT \"$1\"")" + rest);
    plan.cache->put("SELECT \"$1\"", "", {"n1", "p1"});
    const service_call& running = exchange_of(made).compose(nullptr);
    EXPECT_EQ(running.body, R"({"prepared":"n1","encoded_plan":"p1")" + rest);
    EXPECT_TRUE(running.is_idempotent);
}

TEST(query_exchange, an_ad_hoc_statement_is_never_prepared) {
    query_plan plan;
    plan.cache = std::make_shared<prepared_cache>();
    plan.cache->put("SELECT 1", "", {"n1", "p1"});
    auto made = make_query_operation("SELECT 1", {}, {}, plan);
    EXPECT_EQ(exchange_of(made).compose(nullptr).body, make_query_call("SELECT 1")->body);
}

// The name of a statement does not change with its plan.
TEST(query_exchange, a_new_plan_of_the_same_name_is_sent) {
    query_plan plan;
    plan.cache = std::make_shared<prepared_cache>();
    plan.cache->put("SELECT 1", "", {"n1", "p1"});
    auto made = make_query_operation("SELECT 1", {.adhoc = false}, {}, plan);
    EXPECT_NE(exchange_of(made).compose(nullptr).body.find("p1"), std::string::npos);
    plan.cache->put("SELECT 1", "", {"n1", "p2"});
    EXPECT_NE(exchange_of(made).compose(nullptr).body.find("p2"), std::string::npos);
}

TEST(query_exchange, analytics_reads_its_own_codes) {
    auto made = make_analytics_operation("SELECT 1");
    EXPECT_EQ(made->service, wire::service::analytics);
    static_cast<void>(exchange_of(made).compose(nullptr));
    const auto busy = judged(
        exchange_of(made), 200, R"({"errors":[{"code":23000,"msg":"busy"}],"status":"errors"})");
    EXPECT_EQ(busy.what, exchange_result::step::retry);
    EXPECT_EQ(busy.reason, retry_reason::analytics_temporary_failure);
    EXPECT_EQ(busy.server_code, 23000U);
}

TEST(query_exchange, a_success_carries_what_was_parsed_to_judge_it) {
    auto made = make_query_operation("SELECT 1");
    static_cast<void>(exchange_of(made).compose(nullptr));
    const auto done =
        judged(exchange_of(made), 200, R"({"requestID":"r1","status":"success","warnings":[]})");
    const auto* const metadata = std::any_cast<couchbase::query_metadata>(&done.metadata);
    ASSERT_NE(metadata, nullptr);
    EXPECT_EQ(metadata->request_id, "r1");
    EXPECT_EQ(metadata->status, "success");
    const auto failed = judged(
        exchange_of(made), 200, R"({"errors":[{"code":3000,"msg":"no"}],"status":"errors"})");
    EXPECT_FALSE(failed.metadata.has_value());
}

}  // namespace
}  // namespace reprise::services
