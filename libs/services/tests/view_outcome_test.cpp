#include <gtest/gtest.h>

#include <set>

#include <reprise/services/view_outcome.hpp>

namespace reprise::services::view_outcome_test {

TEST(view_outcome, parses_rows_and_everything_else) {
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
    EXPECT_EQ(outcome.errors, (std::vector<couchbase::view_problem>{{"n1", "timeout"}, {"", ""}}));
    EXPECT_EQ(outcome.debug_info, R"({"a":[]})");
    const auto refused = parse_view_outcome(R"({"error":"not_found","reason":"missing"})").value();
    EXPECT_EQ(refused.error, "not_found");
    EXPECT_EQ(refused.reason, "missing");
    EXPECT_EQ(refused.total_rows, std::nullopt);
}

TEST(view_classify, RH_23_302_means_no_active_partition) {
    EXPECT_EQ(classify_view(302, "").reason, retry_reason::views_no_active_partition);
    EXPECT_EQ(
        classify_view(302, R"({"error":"{not_found, missing_named_view}"})").reason,
        retry_reason::views_no_active_partition);
}

TEST(view_classify, RH_23_exactly_these_statuses_are_temporary) {
    const std::set<int> temporary = {300, 301, 303, 307, 401, 408, 409, 412,
                                     416, 417, 500, 501, 502, 503, 504};
    for (int status = 100; status < 600; ++status) {
        if (status == 302) {
            continue;
        }
        const service_verdict verdict = classify_view(status, "{}");
        EXPECT_EQ(
            verdict.reason, temporary.contains(status) ? retry_reason::views_temporary_failure
                                                       : retry_reason::unknown)
            << status;
        EXPECT_EQ(verdict.error == std::nullopt, status >= 200 && status < 300) << status;
    }
}

TEST(view_classify, RH_23_404_is_temporary_only_with_its_text) {
    using enum errc;
    EXPECT_EQ(
        classify_view(404, R"({"error":"not_found","reason":"missing"})"),
        (service_verdict{view_not_found, retry_reason::views_temporary_failure}));
    for (const char* body :
         {"", "missing", R"({"error":"not_found","reason":"deleted"})", R"({"reason":"missing_x"})",
          R"({"error":"not_found","reason":"Design document _design/x not found"})"}) {
        EXPECT_EQ(
            classify_view(404, body), (service_verdict{view_not_found, retry_reason::unknown}))
            << body;
    }
}

TEST(view_classify, RH_23_500_is_temporary_unless_error_appears_with_one_of_two_texts) {
    using enum errc;
    const service_verdict again{internal_server_failure, retry_reason::views_temporary_failure};
    EXPECT_EQ(classify_view(500, ""), again);
    EXPECT_EQ(classify_view(500, R"({"error":"timeout"})"), again);
    EXPECT_EQ(classify_view(500, "{not_found, missing_named_view}"), again) << "without error";
    EXPECT_EQ(classify_view(500, R"(["badarg"])"), again) << "without error";
    EXPECT_EQ(classify_view(500, R"({"error":"badarg_x"})"), again) << "not the whole word";
    EXPECT_EQ(
        classify_view(500, R"({"error":"{not_found, missing_named_view}","reason":"x"})"),
        (service_verdict{view_not_found, retry_reason::unknown}));
    EXPECT_EQ(
        classify_view(500, R"({"error":"badarg","reason":"x"})"),
        (service_verdict{internal_server_failure, retry_reason::unknown}));
    EXPECT_EQ(
        classify_view(500, R"({"error":"error","reason":"{not_found, missing_named_view}"})")
            .reason,
        retry_reason::unknown);
}

TEST(view_classify, RH_24_other_answers_have_their_error_and_are_not_retried) {
    EXPECT_EQ(classify_view(200, R"({"errors":[{}]})"), service_verdict{});
    EXPECT_EQ(
        classify_view(400, ""), (service_verdict{errc::invalid_argument, retry_reason::unknown}));
    EXPECT_EQ(classify_view(401, "").error, errc::authentication_failure);
    EXPECT_EQ(classify_view(403, "").error, errc::authentication_failure);
    EXPECT_EQ(classify_view(505, "").error, errc::internal_server_failure);
}

}  // namespace reprise::services::view_outcome_test
