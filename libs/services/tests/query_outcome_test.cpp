#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include <reprise/services/query_outcome.hpp>

namespace reprise::services::query_outcome_test {

using namespace std::chrono_literals;

// An answer whose first error has the given members.
query_outcome failed(const std::string& members) {
    return parse_query_outcome(
               R"({"results":[],"errors":[{)" + members +
               R"(},{"code":4040,"msg":"a later one"}],"status":"errors"})")
        .value();
}

service_verdict verdict_of(std::int64_t code, const std::string& message = "x") {
    return classify_query(
        200, failed("\"code\":" + std::to_string(code) + ",\"msg\":\"" + message + "\""),
        request_access::reads);
}

std::optional<errc> error_of(std::int64_t code, const std::string& message = "x") {
    return verdict_of(code, message).error;
}

TEST(query_outcome, parses_everything_in_an_answer_except_its_rows) {
    const auto outcome =
        parse_query_outcome(
            R"({"requestID":"r1","clientContextID":"c1","signature":{"*":"*"},"results":[],)"
            R"("errors":[{"code":12009,"msg":"m","retry":true,)"
            R"("reason":{"code":17012,"message":"dup"},"query":"q"}],)"
            R"("warnings":[{"code":1,"msg":"w"}],"status":"errors",)"
            R"("metrics":{"elapsedTime":"1.5ms","executionTime":"84.5µs","resultCount":1,)"
            R"("resultSize":9,"sortCount":2,"mutationCount":3,"errorCount":4,"warningCount":5},)"
            R"("prepared":"p1","profile":{"phases":[1, 2]}})")
            .value();
    EXPECT_EQ(outcome.state, query_status::errors);
    EXPECT_EQ(outcome.request_id, "r1");
    EXPECT_EQ(outcome.client_context_id, "c1");
    EXPECT_EQ(outcome.signature, R"({"*":"*"})");
    EXPECT_EQ(outcome.profile, R"({"phases":[1,2]})");
    EXPECT_EQ(outcome.prepared_name, "p1");
    ASSERT_EQ(outcome.errors.size(), 1u);
    EXPECT_EQ(outcome.errors[0], (query_problem{12009, "m", true, 17012}));
    ASSERT_EQ(outcome.warnings.size(), 1u);
    EXPECT_EQ(outcome.warnings[0], (couchbase::query_warning{1, "w"}));
    EXPECT_EQ(outcome.metrics, (couchbase::query_metrics{1500us, 84500ns, 1, 9, 2, 3, 4, 5, 0}));
}

TEST(query_outcome, informational_members_may_be_missing_or_of_any_type) {
    const auto outcome =
        parse_query_outcome(R"({"status":"success","errors":null,"warnings":7,"requestID":[],)"
                            R"("metrics":{"elapsedTime":12,"resultCount":"many"},"prepared":null})")
            .value();
    EXPECT_EQ(outcome.state, query_status::success);
    EXPECT_TRUE(outcome.errors.empty());
    EXPECT_TRUE(outcome.warnings.empty());
    ASSERT_TRUE(outcome.metrics);
    EXPECT_EQ(*outcome.metrics, couchbase::query_metrics{});
    EXPECT_EQ(parse_query_outcome("{}")->state, query_status::missing);
    EXPECT_EQ(parse_query_outcome(R"({"status":"odd"})")->state, query_status::unknown);
    EXPECT_EQ(parse_query_outcome(R"({"status":"missing"})")->state, query_status::unknown);
}

TEST(query_outcome, members_that_decide_must_be_valid) {
    const auto error_at = [](std::string_view text) {
        const auto outcome = parse_query_outcome(text);
        return outcome ? "accepted"
                       : std::string(to_string(outcome.error().code)) + " " + outcome.error().path;
    };
    EXPECT_EQ(error_at("{"), "not_json ");
    EXPECT_EQ(error_at("[]"), "wrong_type ");
    EXPECT_EQ(error_at(R"({"status":1})"), "wrong_type status");
    EXPECT_EQ(error_at(R"({"errors":{"code":1}})"), "wrong_type errors");
    EXPECT_EQ(error_at(R"({"errors":[{"msg":"x"}]})"), "missing_member errors[0].code");
    EXPECT_EQ(error_at(R"({"errors":[{"code":1},{"code":"5000"}]})"), "wrong_type errors[1].code");
    EXPECT_EQ(error_at(R"({"errors":["x"]})"), "missing_member errors[0].code");
}

TEST(query_outcome, keeps_no_more_than_a_hundred_errors) {
    std::string text = R"({"errors":[{"code":1})";
    for (int i = 0; i < 500; ++i) {
        text += R"(,{"code":2})";
    }
    EXPECT_EQ(parse_query_outcome(text + "]}")->errors.size(), 100u);
}

TEST(query_classify, RH_20_three_codes_of_prepared_statements_are_retried) {
    for (const std::int64_t code : {4040, 4050, 4070}) {
        EXPECT_EQ(
            verdict_of(code),
            (service_verdict{
                errc::prepared_statement_failure, retry_reason::query_prepared_statement_failure}))
            << code;
    }
    for (const std::int64_t code : {4060, 4080, 4090}) {
        EXPECT_EQ(
            verdict_of(code),
            (service_verdict{errc::prepared_statement_failure, retry_reason::unknown}))
            << code;
    }
}

TEST(query_classify, RH_20_code_5000_is_retried_only_with_the_text_of_the_queryport) {
    EXPECT_EQ(
        verdict_of(5000, "GSI error - cause: queryport.indexNotFound"),
        (service_verdict{errc::index_not_found, retry_reason::query_index_not_found}));
    EXPECT_EQ(
        verdict_of(5000, "Index Not Found - cause: GSI index bla not found."),
        (service_verdict{errc::index_not_found, retry_reason::unknown}));
    EXPECT_EQ(verdict_of(5001, "queryport.indexNotFound").reason, retry_reason::unknown);
    EXPECT_EQ(verdict_of(12016, "queryport.indexNotFound").reason, retry_reason::unknown);
}

TEST(query_classify, RH_20_only_the_first_error_decides) {
    EXPECT_EQ(verdict_of(3000), (service_verdict{errc::parsing_failure, retry_reason::unknown}))
        << "the second one is 4040";
}

TEST(query_classify, RH_42_the_servers_flag_is_followed_except_for_12016) {
    const auto flagged = [](std::int64_t code) {
        return classify_query(
                   200,
                   failed("\"code\":" + std::to_string(code) + ",\"msg\":\"x\",\"retry\":true"),
                   request_access::reads)
            .reason;
    };
    EXPECT_EQ(flagged(99999), retry_reason::service_response_code_indicated);
    EXPECT_EQ(flagged(12004), retry_reason::service_response_code_indicated);
    EXPECT_EQ(flagged(5000), retry_reason::service_response_code_indicated);
    EXPECT_EQ(flagged(12016), retry_reason::unknown);
    EXPECT_EQ(flagged(4040), retry_reason::query_prepared_statement_failure)
        << "its own rule takes precedence";
    EXPECT_EQ(
        classify_query(
            200, failed(R"("code":99999,"msg":"x","reason":{"retry":true})"), request_access::reads)
            .reason,
        retry_reason::unknown)
        << "the flag belongs to the error, not to its reason";
    EXPECT_EQ(
        classify_query(
            200, failed(R"("code":99999,"msg":"x","retry":"true")"), request_access::reads)
            .reason,
        retry_reason::unknown);
}

TEST(query_classify, RH_24_every_other_code_has_its_error_and_is_not_retried) {
    using enum errc;
    const std::tuple<std::int64_t, errc> cases[] = {
        {1065, invalid_argument},
        {1080, unambiguous_timeout},
        {1191, rate_limited},
        {1192, rate_limited},
        {1193, rate_limited},
        {1194, rate_limited},
        {1195, internal_server_failure},
        {1197, feature_not_available},
        {2120, authentication_failure},
        {10000, authentication_failure},
        {10999, authentication_failure},
        {11000, internal_server_failure},
        {13014, authentication_failure},
        {13015, internal_server_failure},
        {3000, parsing_failure},
        {3230, feature_not_available},
        {4300, index_exists},
        {4000, planning_failure},
        {4321, planning_failure},
        {5000, internal_server_failure},
        {5999, internal_server_failure},
        {12003, bucket_not_found},
        {12004, index_not_found},
        {12016, index_not_found},
        {12009, dml_failure},
        {12000, index_failure},
        {14000, index_failure},
        {17013, internal_server_failure},
        {9999, internal_server_failure},
        {-1, internal_server_failure},
        {0, internal_server_failure}};
    for (const auto& [code, error] : cases) {
        EXPECT_EQ(verdict_of(code), (service_verdict{error, retry_reason::unknown})) << code;
    }
}

TEST(query_classify, texts_distinguish_the_meanings_of_ambiguous_codes) {
    using enum errc;
    EXPECT_EQ(
        error_of(1065, "Unrecognized parameter in request: query_context"), feature_not_available);
    EXPECT_EQ(
        error_of(1065, "Unrecognized parameter in request: preserve_expiry"),
        feature_not_available);
    EXPECT_EQ(
        error_of(1065, "Unrecognized parameter in request: use_replica"), feature_not_available);
    EXPECT_EQ(error_of(5000, "The Index #primary already exists."), index_exists);
    EXPECT_EQ(error_of(5000, "the index x already exist"), index_exists);
    EXPECT_EQ(error_of(5000, "Index does not exist"), index_not_found);
    EXPECT_EQ(error_of(5000, "GSI CreateIndex() - cause: Bucket Not Found"), bucket_not_found);
    EXPECT_EQ(
        error_of(
            5000, "limit for number of indexes that can be created per scope has been reached"),
        quota_limited);
    EXPECT_EQ(error_of(12009, "DML Error - cause: CAS mismatch"), cas_mismatch);
}

TEST(query_classify, a_missing_keyspace_is_named_by_the_number_of_parts_of_its_path) {
    using enum errc;
    EXPECT_EQ(
        error_of(12003, "Keyspace not found in CB datastore: default:travel - cause: No bucket"),
        bucket_not_found);
    EXPECT_EQ(
        error_of(12003, "Keyspace not found in CB datastore: default:travel.a.b - cause: x.y.z"),
        collection_not_found);
    EXPECT_EQ(error_of(12003, "Keyspace not found: default:travel.a"), scope_not_found);
    EXPECT_EQ(error_of(12003, "default:`my travel.eu`.a.`b.c`"), collection_not_found);
    EXPECT_EQ(error_of(12003, "no path"), bucket_not_found);
    EXPECT_EQ(error_of(12021, "Scope not found in CB datastore default:travel.a"), scope_not_found);
}

TEST(query_classify, the_reason_of_a_dml_error_is_more_exact_than_its_text) {
    const auto with_reason = [](int code, const std::string& message) {
        return classify_query(
                   200,
                   failed(
                       R"("code":12009,"msg":")" + message + R"(","reason":{"code":)" +
                       std::to_string(code) + "}"),
                   request_access::reads)
            .error;
    };
    EXPECT_EQ(with_reason(12033, "x"), errc::cas_mismatch);
    EXPECT_EQ(with_reason(17012, "possible causes include CAS mismatch"), errc::document_exists);
    EXPECT_EQ(with_reason(17014, "x"), errc::document_not_found);
    EXPECT_EQ(with_reason(1, "x"), errc::dml_failure);
}

TEST(query_classify, RH_45_a_200_with_errors_or_without_success_is_an_error) {
    const auto of = [](int http_status, std::string_view text) {
        return classify_query(
            http_status, parse_query_outcome(text).value(), request_access::reads);
    };
    EXPECT_EQ(of(200, R"({"status":"success"})"), service_verdict{});
    EXPECT_EQ(of(200, R"({"status":"completed"})"), service_verdict{});
    EXPECT_EQ(
        of(200, R"({"status":"success","errors":[{"code":3000}]})").error, errc::parsing_failure);
    EXPECT_EQ(of(200, R"({"status":"fatal"})").error, errc::internal_server_failure);
    EXPECT_EQ(of(200, R"({"status":"timeout"})").error, errc::unambiguous_timeout);
    EXPECT_EQ(of(200, "{}").error, errc::internal_server_failure);
    EXPECT_EQ(of(500, R"({"status":"success"})").error, errc::internal_server_failure);
    EXPECT_EQ(of(503, R"({"errors":[]})").error, errc::service_not_available);
    EXPECT_EQ(of(401, R"({"errors":[]})").error, errc::authentication_failure);
}

TEST(analytics_classify, RH_21_three_codes_are_temporary) {
    const auto of = [](std::int64_t code) {
        return classify_analytics(
            200, failed("\"code\":" + std::to_string(code)), request_access::reads);
    };
    using enum errc;
    EXPECT_EQ(
        of(23000), (service_verdict{temporary_failure, retry_reason::analytics_temporary_failure}));
    EXPECT_EQ(
        of(23003), (service_verdict{temporary_failure, retry_reason::analytics_temporary_failure}));
    EXPECT_EQ(
        of(23007), (service_verdict{job_queue_full, retry_reason::analytics_temporary_failure}));
    const std::tuple<std::int64_t, errc> others[] = {
        {20000, authentication_failure},
        {20999, authentication_failure},
        {21002, unambiguous_timeout},
        {23001, internal_server_failure},
        {24000, parsing_failure},
        {24006, link_not_found},
        {24055, link_exists},
        {24025, dataset_not_found},
        {24044, dataset_not_found},
        {24045, dataset_not_found},
        {24034, dataverse_not_found},
        {24039, dataverse_exists},
        {24040, dataset_exists},
        {24047, index_not_found},
        {24048, index_exists},
        {24001, compilation_failure},
        {25000, internal_server_failure},
        {4040, internal_server_failure}};
    for (const auto& [code, error] : others) {
        EXPECT_EQ(of(code), (service_verdict{error, retry_reason::unknown})) << code;
    }
    EXPECT_EQ(
        classify_analytics(
            200, parse_query_outcome(R"({"status":"success"})").value(), request_access::may_write),
        service_verdict{});
}

// --- statements that may change data ---

service_verdict written(std::int64_t code, bool is_flagged) {
    return classify_query(
        200,
        failed(
            "\"code\":" + std::to_string(code) +
            ",\"msg\":\"x\",\"retry\":" + (is_flagged ? "true" : "false")),
        request_access::may_write);
}

// As seen on a real server, which flags its own timeout: an UPDATE that was sent again raised a
// counter twice.
TEST(query_classify, RH_42_the_flag_counts_for_writes_only_if_nothing_was_executed) {
    for (const std::int64_t code : {1080, 12008, 5000, 5999, 1181, 3000, 12004, 99999}) {
        EXPECT_EQ(written(code, true).reason, retry_reason::unknown) << code;
    }
    EXPECT_EQ(
        written(1201, true),
        (service_verdict{
            errc::internal_server_failure, retry_reason::service_response_code_indicated, false}));
    EXPECT_EQ(written(1201, false).reason, retry_reason::unknown) << "without the flag";
}

TEST(query_classify, RH_42_RH_29_the_servers_own_timeout_is_ambiguous_unless_readonly) {
    const service_verdict ambiguous{errc::ambiguous_timeout, retry_reason::unknown, true};
    EXPECT_EQ(written(1080, true), ambiguous);
    EXPECT_EQ(written(1080, false), ambiguous);
    const auto errorless = parse_query_outcome(R"({"status":"timeout"})").value();
    EXPECT_EQ(classify_query(200, errorless, request_access::may_write), ambiguous);
    EXPECT_EQ(
        classify_query(200, errorless, request_access::reads),
        (service_verdict{errc::unambiguous_timeout, retry_reason::unknown, false}));
    EXPECT_EQ(
        verdict_of(1080),
        (service_verdict{errc::unambiguous_timeout, retry_reason::unknown, false}));
    for (const request_access access : {request_access::reads, request_access::may_write}) {
        const auto late = classify_analytics(200, failed("\"code\":21002"), access);
        const bool is_ambiguous = access == request_access::may_write;
        EXPECT_EQ(late.error, is_ambiguous ? errc::ambiguous_timeout : errc::unambiguous_timeout);
        EXPECT_EQ(late.may_have_acted, is_ambiguous);
    }
}

TEST(query_classify, RH_29_a_failed_write_may_have_acted_unless_the_answer_proves_otherwise) {
    for (const std::int64_t code :
         {1000, 1079, 1191, 1192, 1193,  1194,  1197,  1201,  2120,  3000,
          4000, 4035, 4037, 4999, 10000, 10099, 12003, 12004, 12021, 13014}) {
        EXPECT_FALSE(written(code, false).may_have_acted) << code;
    }
    // From 10100 on a user-defined function failed, which runs with the statement. 4036 and 12016
    // are raised while rows are read.
    for (const std::int64_t code :
         {999, 1080, 1081, 1181, 1195, 2000, 4036, 5000, 9999, 10100, 10109, 10113, 10999, 11000,
          12008, 12009, 12016, 13015, 15005}) {
        EXPECT_TRUE(written(code, false).may_have_acted) << code;
        EXPECT_TRUE(written(code, true).may_have_acted) << code;
        EXPECT_FALSE(verdict_of(code).may_have_acted) << code;
    }
    const auto bare = [](int http_status, std::string_view text) {
        return classify_query(
                   http_status, parse_query_outcome(text).value(), request_access::may_write)
            .may_have_acted;
    };
    EXPECT_FALSE(bare(200, R"({"status":"success"})"));
    EXPECT_TRUE(bare(200, R"({"status":"fatal"})"));
    EXPECT_TRUE(bare(500, "{}"));
    EXPECT_TRUE(bare(503, "{}"));
    EXPECT_FALSE(bare(499, "{}"));
    EXPECT_FALSE(bare(300, "{}"));
}

TEST(analytics_classify, RH_29_a_failed_write_may_have_acted_unless_the_answer_proves_otherwise) {
    const auto may_have_acted = [](std::int64_t code, request_access access) {
        return classify_analytics(200, failed("\"code\":" + std::to_string(code)), access)
            .may_have_acted;
    };
    for (const std::int64_t code : {20000, 23000, 23003, 23007, 24000, 24999}) {
        EXPECT_FALSE(may_have_acted(code, request_access::may_write)) << code;
    }
    for (const std::int64_t code : {21002, 23001, 25000}) {
        EXPECT_TRUE(may_have_acted(code, request_access::may_write)) << code;
        EXPECT_FALSE(may_have_acted(code, request_access::reads)) << code;
    }
    EXPECT_TRUE(classify_analytics(500, {}, request_access::may_write).may_have_acted);
    EXPECT_FALSE(classify_analytics(400, {}, request_access::may_write).may_have_acted);
}

TEST(bare_status, classifies_an_answer_without_json) {
    EXPECT_EQ(classify_bare_status(503, body_state::empty), errc::service_not_available);
    EXPECT_EQ(classify_bare_status(503, body_state::unreadable), errc::service_not_available);
    EXPECT_EQ(classify_bare_status(401, body_state::unreadable), errc::authentication_failure);
    EXPECT_EQ(classify_bare_status(200, body_state::empty), errc::internal_server_failure);
    EXPECT_EQ(classify_bare_status(200, body_state::unreadable), errc::parsing_failure);
}

TEST(prepared_row, has_a_name_and_a_plan) {
    const auto row =
        parse_prepared_row(R"({"encoded_plan":"H4","name":"p1","operator":{},"text":"x"})").value();
    EXPECT_EQ(row.name, "p1");
    EXPECT_EQ(row.encoded_plan, "H4");
    EXPECT_EQ(parse_prepared_row(R"({"encoded_plan":"H4"})").error().path, "name");
    EXPECT_EQ(parse_prepared_row(R"({"name":"p1"})").error().path, "encoded_plan");
    EXPECT_FALSE(parse_prepared_row("7"));
}

}  // namespace reprise::services::query_outcome_test
