#include <reprise/couchbase/ready_observers.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <string>
#include <vector>

namespace reprise::couchbase {

namespace {

using namespace std::chrono_literals;

operation_end ended(
    std::string_view service, duration took, duration at = 0s, std::error_code error = {}) {
    operation_end record;
    record.which = {1, 31, service, service == "kv" ? "get" : "query"};
    record.error = error;
    record.ended = time_point{} + at;
    record.total_time = took;
    record.endpoint = "10.0.0.1:11210";
    return record;
}

decision_record decided(retry_reason reason, refusal_reason refusal = refusal_reason::none) {
    decision_record record;
    record.reason = reason;
    record.is_retried = refusal == refusal_reason::none;
    record.refusal = refusal;
    return record;
}

/// Collects the lines about slow operations.
struct lines {
    std::vector<std::string> all;
    slow_operation_options options() {
        slow_operation_options result;
        result.report = [this](std::string_view line) { all.emplace_back(line); };
        return result;
    }
};

}  // namespace

TEST(client_metrics, counts_by_service_reason_and_refusal) {
    client_metrics metrics;
    metrics.on_end(ended("kv", 2ms));
    metrics.on_end(ended("kv", 3ms, 0s, errc::unambiguous_timeout));
    metrics.on_end(ended("query", 40ms));
    metrics.on_decision({}, decided(retry_reason::kv_locked));
    metrics.on_decision({}, decided(retry_reason::kv_locked));
    metrics.on_decision({}, decided(retry_reason::kv_locked, refusal_reason::budget_exhausted));
    metrics.on_orphan({});
    EXPECT_EQ(metrics.successes("kv"), 1U);
    EXPECT_EQ(metrics.failures("kv"), 1U);
    EXPECT_EQ(metrics.successes("query"), 1U);
    EXPECT_EQ(metrics.successes("search"), 0U);
    EXPECT_EQ(metrics.retries(retry_reason::kv_locked), 2U);
    EXPECT_EQ(metrics.orphans(), 1U);

    const std::string text = metrics.to_prometheus();
    const auto has = [&](std::string_view line) {
        return text.find("\n" + std::string(line) + "\n") != std::string::npos;
    };
    EXPECT_TRUE(has(R"(couchbase_operations_total{service="kv",outcome="success"} 1)")) << text;
    EXPECT_TRUE(has(R"(couchbase_operations_total{service="kv",outcome="failure"} 1)"));
    EXPECT_TRUE(has(R"(couchbase_retries_total{reason="KV_LOCKED"} 2)"));
    EXPECT_TRUE(has(R"(couchbase_refusals_total{reason="budget exhausted"} 1)"));
    EXPECT_TRUE(has("couchbase_orphans_total 1"));
    EXPECT_TRUE(has(R"(couchbase_operation_duration_seconds_bucket{service="query",le="0.05"} 1)"));
    EXPECT_TRUE(has(R"(couchbase_operation_duration_seconds_count{service="kv"} 2)"));
    EXPECT_EQ(text.find("search"), std::string::npos);
}

TEST(client_metrics, slow_operations_are_one_line_with_the_worst_first) {
    lines seen;
    slow_operation_options options = seen.options();
    options.sample_count_max = 2;
    client_metrics metrics(options);
    metrics.on_end(ended("kv", 500ms));  // not above the threshold
    metrics.on_end(ended("kv", 501ms));
    metrics.on_end(ended("kv", 900ms));
    metrics.on_end(ended("kv", 700ms));
    metrics.on_end(ended("query", 900ms));
    metrics.on_end(ended("query", 2s));
    metrics.flush_slow_operations();
    ASSERT_EQ(seen.all.size(), 1U);
    EXPECT_EQ(
        seen.all[0], R"({"kv":{"total_count":3,"top_requests":[)"
                     R"({"operation_name":"get","total_duration_us":900000,"retries":0,)"
                     R"("last_remote_socket":"10.0.0.1:11210","operation_id":"0x1f"},)"
                     R"({"operation_name":"get","total_duration_us":700000,"retries":0,)"
                     R"("last_remote_socket":"10.0.0.1:11210","operation_id":"0x1f"}]},)"
                     R"("query":{"total_count":1,"top_requests":[)"
                     R"({"operation_name":"query","total_duration_us":2000000,"retries":0,)"
                     R"("last_remote_socket":"10.0.0.1:11210","operation_id":"0x1f"}]}})");
    metrics.flush_slow_operations();
    EXPECT_EQ(seen.all.size(), 1U);
}

TEST(client_metrics, an_interval_is_reported_with_the_first_operation_after_it) {
    lines seen;
    {
        client_metrics metrics(seen.options());
        metrics.on_end(ended("kv", 1s, 100s));
        metrics.on_end(ended("kv", 1ms, 109s));
        EXPECT_TRUE(seen.all.empty());
        metrics.on_end(ended("kv", 3s, 110s));
        ASSERT_EQ(seen.all.size(), 1U);
        EXPECT_NE(seen.all[0].find(R"("total_count":1)"), std::string::npos);
        EXPECT_NE(seen.all[0].find("1000000"), std::string::npos);
    }
    ASSERT_EQ(seen.all.size(), 2U);  // the rest, at the end
    EXPECT_NE(seen.all[1].find("3000000"), std::string::npos);
}

// Once, a log that was full ended the program.
TEST(client_metrics, what_a_report_throws_is_ignored) {
    int reports = 0;
    client_metrics metrics({.report = [&](std::string_view) {
        ++reports;
        throw std::runtime_error("disk full");
    }});
    metrics.on_end(ended("kv", 1s, 0s));
    metrics.on_end(ended("kv", 1s, 10s));
    EXPECT_NO_THROW(metrics.flush_slow_operations());
    EXPECT_EQ(reports, 2);
}

TEST(client_metrics, a_slow_failure_names_its_error_and_escapes_what_servers_say) {
    lines seen;
    client_metrics metrics(seen.options());
    operation_end record = ended("kv", 1s, 0s, errc::unambiguous_timeout);
    record.retries = 4;
    record.last_reason = retry_reason::kv_locked;
    record.endpoint = "bad\"host\n:1";
    metrics.on_end(record);
    metrics.flush_slow_operations();
    ASSERT_EQ(seen.all.size(), 1U);
    EXPECT_NE(
        seen.all[0].find(R"("retries":4,"last_retry_reason":"KV_LOCKED")"), std::string::npos);
    EXPECT_NE(seen.all[0].find(R"("error":)"), std::string::npos);
    EXPECT_NE(seen.all[0].find(R"("bad\"host\n:1")"), std::string::npos) << seen.all[0];
}

}  // namespace reprise::couchbase
