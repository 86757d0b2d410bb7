#include <gtest/gtest.h>

#include <reprise/couchbase_types/service_metadata.hpp>
#include <reprise/services/analytics_request.hpp>
#include <reprise/services/query_request.hpp>

namespace reprise::services {
namespace {

query_request statement(bool is_readonly = false) {
    query_request asked;
    asked.statement = "SELECT 1";
    asked.is_readonly = is_readonly;
    return asked;
}

http_exchange& exchange_of(service_operation_result& made) {
    return *made.value().exchange;
}

exchange_result judged(http_exchange& by, int status, std::string_view body) {
    const http::header_list none;
    return by.judge({status, none, body, 0});
}

TEST(query_exchange, a_retry_sends_the_request_that_was_composed_first) {
    auto made = make_query_operation(statement());
    const service_call& first = exchange_of(made).compose(nullptr);
    const char* const bytes = first.body.data();
    EXPECT_EQ(first.body, make_query_call(statement())->body);
    EXPECT_EQ(exchange_of(made).compose(nullptr).body.data(), bytes);
}

TEST(query_exchange, a_statement_is_prepared_and_then_run_by_its_name) {
    query_plan plan;
    plan.cache = std::make_shared<prepared_cache>();
    auto made = make_query_operation(statement(), plan);
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

// The name of a statement does not change with its plan.
TEST(query_exchange, a_new_plan_of_the_same_name_is_sent) {
    query_plan plan;
    plan.cache = std::make_shared<prepared_cache>();
    plan.cache->put("SELECT 1", "", {"n1", "p1"});
    auto made = make_query_operation(statement(), plan);
    EXPECT_NE(exchange_of(made).compose(nullptr).body.find("p1"), std::string::npos);
    plan.cache->put("SELECT 1", "", {"n1", "p2"});
    EXPECT_NE(exchange_of(made).compose(nullptr).body.find("p2"), std::string::npos);
}

TEST(query_exchange, analytics_reads_its_own_codes) {
    analytics_request asked;
    asked.statement = "SELECT 1";
    auto made = make_analytics_operation(asked);
    EXPECT_EQ(made->service, wire::service::analytics);
    static_cast<void>(exchange_of(made).compose(nullptr));
    const auto busy = judged(
        exchange_of(made), 200, R"({"errors":[{"code":23000,"msg":"busy"}],"status":"errors"})");
    EXPECT_EQ(busy.what, exchange_result::step::retry);
    EXPECT_EQ(busy.reason, retry_reason::analytics_temporary_failure);
    EXPECT_EQ(busy.server_code, 23000U);
}

TEST(query_exchange, a_success_carries_what_was_parsed_to_judge_it) {
    auto made = make_query_operation(statement());
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
