#include <gtest/gtest.h>

#include <reprise/services/search_outcome.hpp>

namespace reprise::services::search_outcome_test {

using namespace std::chrono_literals;

service_verdict classified_search(int status, std::string_view body) {
    return classify_search(status, body, parse_search_outcome(body));
}

TEST(search_outcome, a_partial_result_is_a_success_that_reports_what_failed) {
    const std::string_view trailer =
        R"({"status":{"total":6,"failed":2,"successful":4,"errors":{"p1":"slow","p2":{"a":1}}},)"
        R"("request":{},"hits":[],"total_hits":12,"max_score":0.5,"took":1500000,)"
        R"("facets":{"f":{"total":1}}})";
    const auto outcome = parse_search_outcome(trailer).value();
    EXPECT_TRUE(outcome.is_partial());
    EXPECT_EQ(outcome.partition_count, 6u);
    EXPECT_EQ(outcome.failed_count, 2u);
    EXPECT_EQ(outcome.successful_count, 4u);
    using pairs = std::vector<std::pair<std::string, std::string>>;
    EXPECT_EQ(outcome.partition_errors, (pairs{{"p1", "slow"}, {"p2", R"({"a":1})"}}));
    EXPECT_EQ(outcome.total_hits, 12u);
    EXPECT_EQ(outcome.max_score, 0.5);
    EXPECT_EQ(outcome.took, 1500us);
    EXPECT_EQ(outcome.facets, R"({"f":{"total":1}})");
    EXPECT_EQ(classified_search(200, trailer), service_verdict{});
}

TEST(search_outcome, the_status_may_be_one_word) {
    const auto outcome = parse_search_outcome(R"({"status":"ok","hits":null})").value();
    EXPECT_EQ(outcome.status, "ok");
    EXPECT_FALSE(outcome.is_partial());
    EXPECT_EQ(classified_search(200, R"({"status":"ok"})"), service_verdict{});
    EXPECT_EQ(
        classified_search(200, R"({"status":"fail","error":"x"})").error,
        errc::internal_server_failure);
    EXPECT_EQ(classified_search(200, "<html>").error, errc::parsing_failure);
    EXPECT_EQ(parse_search_outcome(R"({"took":18446744073709551615,"total_hits":-1})")->took, 0ns);
}

TEST(search_classify, RH_22_429_is_retried_unless_it_mentions_a_limit) {
    using enum errc;
    EXPECT_EQ(
        classified_search(429, R"({"error":"busy"})"),
        (service_verdict{temporary_failure, retry_reason::search_too_many_requests}));
    EXPECT_EQ(
        classified_search(429, ""),
        (service_verdict{temporary_failure, retry_reason::search_too_many_requests}));
    for (const char* limit :
         {"num_concurrent_requests", "num_queries_per_min", "ingress_mib_per_min",
          "egress_mib_per_min"}) {
        EXPECT_EQ(
            classified_search(429, std::string("limit: ") + limit),
            (service_verdict{rate_limited, retry_reason::unknown}))
            << limit;
    }
    EXPECT_EQ(
        classified_search(429, "num_fts_indexes (active + pending) >= limit"),
        (service_verdict{quota_limited, retry_reason::unknown}));
}

TEST(search_classify, RH_24_no_other_status_is_retried) {
    using enum errc;
    const auto of = [](int status, std::string_view body) {
        const service_verdict verdict = classified_search(status, body);
        EXPECT_EQ(verdict.reason, retry_reason::unknown) << status;
        return verdict.error;
    };
    EXPECT_EQ(of(400, R"({"error":"rest_auth: x, err: index not found"})"), index_not_found);
    EXPECT_EQ(of(400, "no planPIndexes for indexName: x"), index_not_ready);
    EXPECT_EQ(of(400, "pindex_consistency mismatched partition"), consistency_mismatch);
    EXPECT_EQ(of(400, "num_fts_indexes"), quota_limited);
    EXPECT_EQ(of(400, "parse error"), invalid_argument);
    EXPECT_EQ(of(401, ""), authentication_failure);
    EXPECT_EQ(of(403, ""), authentication_failure);
    EXPECT_EQ(of(404, ""), feature_not_available);
    EXPECT_EQ(of(500, ""), internal_server_failure);
    EXPECT_EQ(of(503, ""), service_not_available);
    EXPECT_EQ(of(302, ""), internal_server_failure);
}

}  // namespace reprise::services::search_outcome_test
