#include <gtest/gtest.h>

#include <set>

#include <reprise/services/view_outcome.hpp>
#include <reprise/services/view_request.hpp>

namespace reprise::services {
namespace view_test {

TEST(view_request, RH_18_is_always_idempotent_and_says_everything_in_its_path) {
    view_request request{.bucket = "b 1", .design_document = "d/x", .view = "v"};
    const auto plain = make_view_call(request).value();
    EXPECT_EQ(plain.service, wire::service::views);
    EXPECT_EQ(plain.method, "GET");
    EXPECT_EQ(plain.target, "/b%201/_design/d%2Fx/_view/v");
    EXPECT_EQ(plain.rows_member, "rows");
    EXPECT_TRUE(plain.is_idempotent);
    request.is_development = true;
    request.limit = 11;
    request.skip = 0;
    request.stale = view_stale::no;
    request.key = R"("k&1")";
    request.start_key = "[1]";
    request.end_key = "{}";
    request.start_key_doc_id = "a b";
    request.end_key_doc_id = "c";
    request.is_end_inclusive = false;
    request.is_reduced = true;
    request.is_grouped = false;
    request.group_level = 2;
    request.is_descending = true;
    request.on_error = view_on_error::keep_going;
    request.has_debug = true;
    request.is_full_set = true;
    EXPECT_EQ(
        make_view_call(request)->target,
        "/b%201/_design/dev_d%2Fx/_view/v?limit=11&skip=0&stale=false&key=%22k%261%22"
        "&startkey=%5B1%5D&endkey=%7B%7D&startkey_docid=a%20b&endkey_docid=c"
        "&inclusive_end=false&reduce=true&group=false&group_level=2&descending=true"
        "&on_error=continue&debug=true&full_set=true");
}

TEST(view_request, keys_go_into_a_body_and_stay_idempotent) {
    const auto call = make_view_call({.bucket = "b",
                                      .design_document = "d",
                                      .view = "v",
                                      .stale = view_stale::update_after,
                                      .keys = {R"("a")", "[1,2]"}})
                          .value();
    EXPECT_EQ(call.method, "POST");
    EXPECT_EQ(call.target, "/b/_design/d/_view/v?stale=update_after");
    EXPECT_EQ(call.content_type, "application/json");
    EXPECT_EQ(call.body, R"({"keys":["a",[1,2]]})");
    EXPECT_TRUE(call.is_idempotent);
}

TEST(view_request, what_is_missing_or_no_json_is_named) {
    using enum service_call_errc;
    EXPECT_EQ(
        make_view_call({.design_document = "d", .view = "v"}).error(),
        (service_call_error{text_missing, "bucket"}));
    EXPECT_EQ(
        make_view_call({.bucket = "b", .view = "v"}).error(),
        (service_call_error{text_missing, "design_document"}));
    EXPECT_EQ(
        make_view_call({.bucket = "b", .design_document = "d"}).error(),
        (service_call_error{text_missing, "view"}));
    for (const char* dots : {".", ".."}) {
        EXPECT_EQ(
            make_view_call({.bucket = dots, .design_document = "d", .view = "v"}).error(),
            (service_call_error{dot_segment, "bucket"}));
        EXPECT_EQ(
            make_view_call({.bucket = "b", .design_document = dots, .view = "v"}).error(),
            (service_call_error{dot_segment, "design_document"}));
        EXPECT_EQ(
            make_view_call({.bucket = "b", .design_document = "d", .view = dots}).error(),
            (service_call_error{dot_segment, "view"}));
    }
    view_request request{.bucket = "b", .design_document = "d", .view = "v", .key = "plain"};
    EXPECT_EQ(make_view_call(request).error(), (service_call_error{value_not_json, "key"}));
    request.key.clear();
    request.keys = {"1", "2]"};
    EXPECT_EQ(make_view_call(request).error(), (service_call_error{value_not_json, "keys[1]"}));
}

TEST(view_outcome, reads_rows_and_what_stands_beside_them) {
    EXPECT_EQ(parse_view_row(R"({"key":null,"value":7})").value(), (view_row{"", "null", "7"}));
    EXPECT_EQ(
        parse_view_row(R"({"id":"a","key":"k","value":{"x":1}})").value(),
        (view_row{"a", R"("k")", R"({"x":1})"}));
    EXPECT_FALSE(parse_view_row("1"));
    const auto outcome =
        parse_view_outcome(
            R"({"total_rows":4,"rows":[],"errors":[{"from":"n1","reason":"timeout"},5],)"
            R"("debug_info":{"a":[]}})")
            .value();
    EXPECT_EQ(outcome.total_rows, 4u);
    EXPECT_EQ(outcome.errors, (std::vector<view_problem>{{"n1", "timeout"}, {"", ""}}));
    EXPECT_EQ(outcome.debug_info, R"({"a":[]})");
    const auto refused = parse_view_outcome(R"({"error":"not_found","reason":"missing"})").value();
    EXPECT_EQ(refused.error, "not_found");
    EXPECT_EQ(refused.reason, "missing");
    EXPECT_EQ(refused.total_rows, std::nullopt);
}

TEST(view_classify, RH_23_302_means_no_active_partition) {
    EXPECT_EQ(classify_view(302, "").retry, view_retry::no_active_partition);
    EXPECT_EQ(
        classify_view(302, R"({"error":"{not_found, missing_named_view}"})").retry,
        view_retry::no_active_partition);
}

TEST(view_classify, RH_23_exactly_these_statuses_are_temporary) {
    const std::set<int> temporary = {300, 301, 303, 307, 401, 408, 409, 412,
                                     416, 417, 500, 501, 502, 503, 504};
    for (int status = 100; status < 600; ++status) {
        if (status == 302) {
            continue;
        }
        const view_verdict verdict = classify_view(status, "{}");
        EXPECT_EQ(
            verdict.retry,
            temporary.contains(status) ? view_retry::temporary_failure : view_retry::none)
            << status;
        EXPECT_EQ(verdict.error == std::nullopt, status >= 200 && status < 300) << status;
    }
}

TEST(view_classify, RH_23_404_is_temporary_only_with_its_text) {
    using enum errc;
    EXPECT_EQ(
        classify_view(404, R"({"error":"not_found","reason":"missing"})"),
        (view_verdict{view_not_found, view_retry::temporary_failure}));
    for (const char* body :
         {"", "missing", R"({"error":"not_found","reason":"deleted"})", R"({"reason":"missing_x"})",
          R"({"error":"not_found","reason":"Design document _design/x not found"})"}) {
        EXPECT_EQ(classify_view(404, body), (view_verdict{view_not_found, view_retry::none}))
            << body;
    }
}

TEST(view_classify, RH_23_500_is_temporary_unless_error_stands_with_one_of_two_texts) {
    using enum errc;
    const view_verdict again{internal_server_failure, view_retry::temporary_failure};
    EXPECT_EQ(classify_view(500, ""), again);
    EXPECT_EQ(classify_view(500, R"({"error":"timeout"})"), again);
    EXPECT_EQ(classify_view(500, "{not_found, missing_named_view}"), again) << "without error";
    EXPECT_EQ(classify_view(500, R"(["badarg"])"), again) << "without error";
    EXPECT_EQ(classify_view(500, R"({"error":"badarg_x"})"), again) << "not the whole word";
    EXPECT_EQ(
        classify_view(500, R"({"error":"{not_found, missing_named_view}","reason":"x"})"),
        (view_verdict{view_not_found, view_retry::none}));
    EXPECT_EQ(
        classify_view(500, R"({"error":"badarg","reason":"x"})"),
        (view_verdict{internal_server_failure, view_retry::none}));
    EXPECT_EQ(
        classify_view(500, R"({"error":"error","reason":"{not_found, missing_named_view}"})").retry,
        view_retry::none);
}

TEST(view_classify, RH_24_other_answers_have_names_and_are_not_retried) {
    EXPECT_EQ(classify_view(200, R"({"errors":[{}]})"), view_verdict{});
    EXPECT_EQ(classify_view(400, ""), (view_verdict{errc::invalid_argument, view_retry::none}));
    EXPECT_EQ(classify_view(401, "").error, errc::authentication_failure);
    EXPECT_EQ(classify_view(403, "").error, errc::authentication_failure);
    EXPECT_EQ(classify_view(505, "").error, errc::internal_server_failure);
}

}  // namespace view_test
}  // namespace reprise::services
