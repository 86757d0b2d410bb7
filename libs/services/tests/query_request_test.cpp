#include <gtest/gtest.h>

#include <reprise/services/analytics_request.hpp>
#include <reprise/services/query_request.hpp>

namespace reprise::services::query_request_test {

using namespace std::chrono_literals;

using couchbase::json_text;
using couchbase::query_profile;
using couchbase::scan_consistency;

service_call_error error_of(std::string_view statement, const query_options& options = {}) {
    const auto call = make_query_call(statement, options);
    return call ? service_call_error{} : call.error();
}

TEST(query_request, a_statement_alone_gives_a_small_body) {
    const auto call = make_query_call("SELECT \"x\"").value();
    EXPECT_EQ(call.service, wire::service::query);
    EXPECT_EQ(call.method, "POST");
    EXPECT_EQ(call.target, "/query/service");
    EXPECT_EQ(call.content_type, "application/json");
    EXPECT_EQ(call.body, R"({"statement":"SELECT \"x\"","metrics":false})");
    EXPECT_EQ(call.rows_member, "results");
}

TEST(query_request, RH_18_only_a_readonly_query_is_idempotent) {
    EXPECT_FALSE(make_query_call("SELECT 1")->is_idempotent);
    const auto call = make_query_call("SELECT 1", {.readonly = true}).value();
    EXPECT_TRUE(call.is_idempotent);
    EXPECT_EQ(call.body, R"({"statement":"SELECT 1","readonly":true,"metrics":false})");
}

TEST(query_request, every_member_has_the_type_that_the_service_expects) {
    query_options options;
    options.readonly = true;
    options.positional = {1, "a", nullptr};
    options.named = {{"x", true}, {"$y", json_text{"[1]"}}};
    options.consistency = scan_consistency::request_plus;
    options.scan_wait = 10ms;
    options.scan_cap = 1;
    options.pipeline_cap = 2;
    options.pipeline_batch = 3;
    options.max_parallelism = 4;
    options.profile = query_profile::timings;
    options.metrics = true;
    options.use_search_index = true;
    options.preserve_expiry = true;
    options.use_replica = false;
    options.raw = {{"memory_quota", 5}};
    const request_context context{"b`1", "s", "c1", 75s};
    EXPECT_EQ(
        make_query_call("S", options, context)->body,
        R"({"statement":"S","client_context_id":"c1","timeout":"74500ms",)"
        R"("readonly":true,"args":[1,"a",null],"$x":true,"$y":[1],)"
        R"("scan_consistency":"request_plus","scan_wait":"10ms",)"
        R"("query_context":"default:`b``1`.`s`","scan_cap":"1","pipeline_cap":"2",)"
        R"("pipeline_batch":"3","max_parallelism":"4","profile":"timings","metrics":true,)"
        R"("use_fts":true,"preserve_expiry":true,"use_replica":"off","memory_quota":5})");
}

TEST(query_request, the_users_timeout_and_name_replace_those_of_the_client) {
    const request_context context{.client_context_id = "c1", .timeout_default = 75s};
    const query_options options{.timeout = 10us, .client_context_id = "mine"};
    EXPECT_EQ(
        make_query_call("S", options, context)->body,
        R"({"statement":"S","client_context_id":"mine","timeout":"1ms","metrics":false})");
    EXPECT_EQ(make_query_operation("S", options, context)->context_id, "mine");
    EXPECT_EQ(make_query_operation("S", {}, context)->context_id, "c1");
}

TEST(query_request, consistency_with_writes_sends_the_newest_mutation_of_each_vbucket) {
    query_options options;
    options.consistent_with.tokens = {
        {"b", 12, 18446744073709551615u, 7},
        {"a", 1, 5, 1},
        {"b", 12, 18446744073709551615u, 9},
        {"b", 12, 18446744073709551615u, 8},
        {"b", 3, 6, 2}};
    EXPECT_EQ(
        make_query_call("S", options)->body,
        R"({"statement":"S","scan_consistency":"at_plus","scan_vectors":{"a":{"1":[1,"5"]},)"
        R"("b":{"3":[2,"6"],"12":[9,"18446744073709551615"]}},"metrics":false})");
    options.consistency = scan_consistency::request_plus;
    EXPECT_EQ(
        error_of("S", options),
        (service_call_error{service_call_errc::option_out_of_place, "scan_vectors"}));
}

TEST(query_request, options_that_need_others_are_reported) {
    using enum service_call_errc;
    EXPECT_EQ(error_of(""), (service_call_error{text_missing, "statement"}));
    EXPECT_EQ(
        error_of("S", {.scan_wait = 1ms}), (service_call_error{option_out_of_place, "scan_wait"}));
    const query_options named{.adhoc = false, .raw = {{"prepared", "p"}}};
    EXPECT_EQ(error_of("S", named), (service_call_error{name_repeated, "prepared"}));
}

TEST(query_request, a_parameter_cannot_escape_its_place) {
    using enum service_call_errc;
    EXPECT_EQ(
        error_of("S", {.positional = {1, json_text{"2],\"readonly\":true,\"x\":[3"}}}),
        (service_call_error{value_not_json, "args[1]"}));
    EXPECT_EQ(
        error_of("S", {.named = {{"a", json_text{"{"}}}}),
        (service_call_error{value_not_json, "$a"}));
    EXPECT_EQ(
        error_of("S", {.named = {{"a", 1}, {"$a", 2}}}), (service_call_error{name_repeated, "$a"}));
    EXPECT_EQ(
        error_of("S", {.raw = {{"statement", "DROP"}}}),
        (service_call_error{name_repeated, "statement"}));
    EXPECT_EQ(error_of("S\xff"), (service_call_error{text_not_utf8, "statement"}));
    EXPECT_EQ(
        error_of("S", {.named = {{"$", 1}}}), (service_call_error{text_missing, "parameter name"}));
    EXPECT_EQ(to_string(service_call_error{value_not_json, "$a"}), "value_not_json: $a");
}

TEST(query_request, a_value_without_json_names_its_place) {
    using enum service_call_errc;
    EXPECT_EQ(
        error_of("S", {.positional = {json_text{}}}),
        (service_call_error{value_not_encoded, "args[0]: the value is empty"}));
    EXPECT_EQ(
        error_of("S", {.named = {{"a", "\xff"}}}),
        (service_call_error{value_not_encoded, "$a: the text is not UTF-8"}));
    EXPECT_EQ(
        error_of("S", {.raw = {{"a", couchbase::mutation_macro::cas}}}),
        (service_call_error{option_out_of_place, "a: macros are for sub-documents only"}));
}

TEST(server_timeout, leaves_the_server_half_a_second_to_answer_first) {
    EXPECT_EQ(server_timeout(75s), 74500ms);
    EXPECT_EQ(server_timeout(5001ms), 4501ms);
    EXPECT_EQ(server_timeout(5s), 5s);
    EXPECT_EQ(server_timeout(100ms), 100ms);
}

TEST(analytics_request, sends_the_options_of_a_query_to_another_service) {
    analytics_options options;
    options.positional = {1};
    options.named = {{"n", 2}};
    options.consistency = scan_consistency::not_bounded;
    const auto call = make_analytics_call("S", options, {"b", "s", "c", 75s}).value();
    EXPECT_EQ(call.service, wire::service::analytics);
    EXPECT_EQ(call.target, "/query/service");
    EXPECT_EQ(
        call.body,
        R"({"statement":"S","client_context_id":"c","timeout":"74500ms","args":[1],"$n":2,)"
        R"("scan_consistency":"not_bounded","query_context":"default:`b`.`s`"})");
    EXPECT_TRUE(call.headers.empty());
}

TEST(analytics_request, RH_18_is_idempotent_when_readonly_and_priority_is_a_header) {
    EXPECT_FALSE(make_analytics_call("S")->is_idempotent);
    const auto call = make_analytics_call("S", {.readonly = true, .has_priority = true}).value();
    EXPECT_TRUE(call.is_idempotent);
    EXPECT_EQ(call.headers, (http::header_list{{"analytics-priority", "-1"}}));
    EXPECT_EQ(
        make_analytics_call("").error(),
        (service_call_error{service_call_errc::text_missing, "statement"}));
}

}  // namespace reprise::services::query_request_test
