#include <gtest/gtest.h>

#include <reprise/services/analytics_request.hpp>
#include <reprise/services/query_request.hpp>

namespace reprise::services {
namespace query_request_test {

using namespace std::chrono_literals;

service_call_error error_of(const query_request& request) {
    const auto call = make_query_call(request);
    return call ? service_call_error{} : call.error();
}

TEST(query_request, a_statement_alone_gives_a_small_body) {
    const auto call = make_query_call({.statement = "SELECT \"x\""}).value();
    EXPECT_EQ(call.service, wire::service::query);
    EXPECT_EQ(call.method, "POST");
    EXPECT_EQ(call.target, "/query/service");
    EXPECT_EQ(call.content_type, "application/json");
    EXPECT_EQ(call.body, R"({"statement":"SELECT \"x\""})");
    EXPECT_EQ(call.rows_member, "results");
}

TEST(query_request, RH_18_only_a_readonly_query_is_idempotent) {
    EXPECT_FALSE(make_query_call({.statement = "SELECT 1"})->is_idempotent);
    const auto call = make_query_call({.statement = "SELECT 1", .is_readonly = true}).value();
    EXPECT_TRUE(call.is_idempotent);
    EXPECT_EQ(call.body, R"({"statement":"SELECT 1","readonly":true})");
}

TEST(query_request, every_member_has_the_type_that_the_service_expects) {
    query_request request;
    request.statement = "S";
    request.is_auto_execute = true;
    request.client_context_id = "c1";
    request.timeout = 74500ms;
    request.is_readonly = true;
    request.args = {"1", R"("a")", "null"};
    request.parameters = {{"x", "true"}, {"$y", "[1]"}};
    request.consistency = scan_consistency::request_plus;
    request.scan_wait = 10ms;
    request.scan_cap = 1;
    request.pipeline_cap = 2;
    request.pipeline_batch = 3;
    request.max_parallelism = 4;
    request.profile = query_profile::timings;
    request.metrics = false;
    request.query_context = make_query_context("b`1", "s");
    request.use_search_index = true;
    request.preserve_expiry = true;
    request.use_replica = false;
    request.raw = {{"memory_quota", "5"}};
    EXPECT_EQ(
        make_query_call(request)->body,
        R"({"statement":"S","auto_execute":true,"client_context_id":"c1","timeout":"74500ms",)"
        R"("readonly":true,"args":[1,"a",null],"$x":true,"$y":[1],)"
        R"("scan_consistency":"request_plus","scan_wait":"10ms",)"
        R"("query_context":"default:`b``1`.`s`","scan_cap":"1","pipeline_cap":"2",)"
        R"("pipeline_batch":"3","max_parallelism":"4","profile":"timings","metrics":false,)"
        R"("use_fts":true,"preserve_expiry":true,"use_replica":"off","memory_quota":5})");
}

TEST(query_request, consistency_with_writes_sends_the_newest_mark_of_each_vbucket) {
    query_request request;
    request.statement = "S";
    request.consistency = scan_consistency::at_plus;
    request.consistent_with = {
        {"b", wire::vbucket_id{12}, {.vbucket_uuid = 18446744073709551615u, .seqno = 7}},
        {"a", wire::vbucket_id{1}, {.vbucket_uuid = 5, .seqno = 1}},
        {"b", wire::vbucket_id{12}, {.vbucket_uuid = 18446744073709551615u, .seqno = 9}},
        {"b", wire::vbucket_id{12}, {.vbucket_uuid = 18446744073709551615u, .seqno = 8}},
        {"b", wire::vbucket_id{3}, {.vbucket_uuid = 6, .seqno = 2}}};
    EXPECT_EQ(
        make_query_call(request)->body,
        R"({"statement":"S","scan_consistency":"at_plus","scan_vectors":{"a":{"1":[1,"5"]},)"
        R"("b":{"3":[2,"6"],"12":[9,"18446744073709551615"]}}})");
}

TEST(query_request, a_prepared_statement_is_sent_by_name) {
    EXPECT_EQ(
        make_query_call({.prepared_name = "p1", .args = {"1"}})->body,
        R"({"prepared":"p1","args":[1]})");
    EXPECT_EQ(
        make_query_call({.prepared_name = "p1", .encoded_plan = "H4s="})->body,
        R"({"prepared":"p1","encoded_plan":"H4s="})");
    EXPECT_EQ(make_prepare_statement("SELECT 1"), "PREPARE SELECT 1");
}

TEST(query_request, options_that_exclude_each_other_are_reported) {
    using enum service_call_errc;
    EXPECT_EQ(error_of({}), (service_call_error{text_missing, "statement"}));
    EXPECT_EQ(
        error_of({.statement = "S", .prepared_name = "p"}),
        (service_call_error{option_out_of_place, "prepared"}));
    EXPECT_EQ(
        error_of({.statement = "S", .encoded_plan = "p"}),
        (service_call_error{option_out_of_place, "encoded_plan"}));
    EXPECT_EQ(
        error_of({.prepared_name = "p", .is_auto_execute = true}),
        (service_call_error{option_out_of_place, "auto_execute"}));
    EXPECT_EQ(
        error_of({.statement = "S", .consistency = scan_consistency::at_plus}),
        (service_call_error{option_out_of_place, "scan_vectors"}));
    EXPECT_EQ(
        error_of({.statement = "S", .scan_wait = 1ms}),
        (service_call_error{option_out_of_place, "scan_wait"}));
}

TEST(query_request, a_parameter_cannot_escape_its_place) {
    using enum service_call_errc;
    EXPECT_EQ(
        error_of({.statement = "S", .args = {"1", "2],\"readonly\":true,\"x\":[3"}}),
        (service_call_error{value_not_json, "args[1]"}));
    EXPECT_EQ(
        error_of({.statement = "S", .parameters = {{"a", ""}}}),
        (service_call_error{value_not_json, "$a"}));
    EXPECT_EQ(
        error_of({.statement = "S", .parameters = {{"a", "1"}, {"$a", "2"}}}),
        (service_call_error{name_repeated, "$a"}));
    EXPECT_EQ(
        error_of({.statement = "S", .raw = {{"statement", "\"DROP\""}}}),
        (service_call_error{name_repeated, "statement"}));
    EXPECT_EQ(error_of({.statement = "S\xff"}), (service_call_error{text_not_utf8, "statement"}));
    EXPECT_EQ(
        error_of({.statement = "S", .parameters = {{"$", "1"}}}),
        (service_call_error{text_missing, "parameter name"}));
    EXPECT_EQ(to_string(service_call_error{value_not_json, "$a"}), "value_not_json: $a");
}

TEST(server_timeout, leaves_the_server_half_a_second_to_answer_first) {
    EXPECT_EQ(server_timeout(75s), 74500ms);
    EXPECT_EQ(server_timeout(5001ms), 4501ms);
    EXPECT_EQ(server_timeout(5s), 5s);
    EXPECT_EQ(server_timeout(100ms), 100ms);
}

TEST(analytics_request, sends_the_options_of_a_query_to_another_service) {
    analytics_request request;
    request.statement = "S";
    request.client_context_id = "c";
    request.timeout = 75s;
    request.args = {"1"};
    request.parameters = {{"n", "2"}};
    request.consistency = scan_consistency::not_bounded;
    request.query_context = make_query_context("b", "s");
    const auto call = make_analytics_call(request).value();
    EXPECT_EQ(call.service, wire::service::analytics);
    EXPECT_EQ(call.target, "/query/service");
    EXPECT_EQ(
        call.body,
        R"({"statement":"S","client_context_id":"c","timeout":"75000ms","args":[1],"$n":2,)"
        R"("scan_consistency":"not_bounded","query_context":"default:`b`.`s`"})");
    EXPECT_TRUE(call.headers.empty());
}

TEST(analytics_request, RH_18_is_idempotent_when_readonly_and_priority_is_a_header) {
    analytics_request request{.statement = "S"};
    EXPECT_FALSE(make_analytics_call(request)->is_idempotent);
    request.is_readonly = true;
    request.has_priority = true;
    const auto call = make_analytics_call(request).value();
    EXPECT_TRUE(call.is_idempotent);
    EXPECT_EQ(call.headers, (http::header_list{{"analytics-priority", "-1"}}));
    request.consistency = scan_consistency::at_plus;
    EXPECT_EQ(
        make_analytics_call(request).error(),
        (service_call_error{service_call_errc::option_out_of_place, "scan_consistency"}));
    EXPECT_EQ(
        make_analytics_call({}).error(),
        (service_call_error{service_call_errc::text_missing, "statement"}));
}

}  // namespace query_request_test
}  // namespace reprise::services
