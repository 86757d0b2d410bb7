#include "operations/decision_log.hpp"

#include <gtest/gtest.h>

#include "engine_driver.hpp"

namespace reprise::engine::testing {
namespace decision_log_tests {

using wire::opcode;
using wire::status;
using answer = scripted_cluster::scripted_answer;

constexpr time_point log_start{1h};

class line_keeper final : public log_sink {
public:
    void on_decision(log_level level, const decision_record& record) noexcept override {
        decisions.emplace_back(level, record.reason);
    }
    void on_message(log_level level, std::string_view text) noexcept override {
        if (text.find("more decisions") != std::string_view::npos) {
            sums.emplace_back(level, text);
        }
    }
    std::vector<std::pair<log_level, retry_reason>> decisions;
    std::vector<std::pair<log_level, std::string>> sums;
};

decision_record decision_about(retry_reason reason, bool is_retried = true) {
    decision_record record;
    record.operation = "get";
    record.reason = reason;
    record.is_retried = is_retried;
    return record;
}

}  // namespace decision_log_tests

using namespace decision_log_tests;

TEST(
    decision_log, RH_14_the_first_of_a_second_are_logged_and_the_rest_are_summarized_when_it_ends) {
    const auto sink = std::make_shared<line_keeper>();
    decision_log log(sink, 3);
    for (int index = 0; index < 5; ++index) {
        log.on_decision(decision_about(retry_reason::kv_locked), log_start + index * 100ms);
    }
    EXPECT_EQ(sink->decisions.size(), 3U);
    ASSERT_EQ(log.next_due(), log_start + 1s);
    log.on_time(log_start + 999ms);
    EXPECT_TRUE(sink->sums.empty());
    log.on_time(log_start + 1s);
    ASSERT_EQ(sink->sums.size(), 1U);
    EXPECT_EQ(sink->sums[0].first, log_level::debug);
    EXPECT_EQ(sink->sums[0].second, "KV_LOCKED: 2 more decisions in 1 s");
    EXPECT_FALSE(log.next_due().has_value());
    log.on_decision(decision_about(retry_reason::kv_locked), log_start + 1s);
    EXPECT_EQ(sink->decisions.size(), 4U) << "a new second starts";
}

TEST(decision_log, RH_14_a_summary_has_the_highest_level_of_its_decisions) {
    const auto sink = std::make_shared<line_keeper>();
    decision_log log(sink, 1);
    for (const bool is_retried : {true, true, false}) {
        log.on_decision(decision_about(retry_reason::kv_locked, is_retried), log_start);
    }
    // Without a call of on_time, the next decision closes the second.
    log.on_decision(decision_about(retry_reason::kv_locked, false), log_start + 2s);
    ASSERT_EQ(sink->sums.size(), 1U);
    EXPECT_EQ(sink->sums[0].first, log_level::warn);
    EXPECT_EQ(sink->sums[0].second, "KV_LOCKED: 2 more decisions in 1 s, 1 not retried");
    EXPECT_EQ(sink->decisions.back().first, log_level::warn);
}

TEST(decision_log, RH_14_each_reason_has_its_own_second_and_the_end_logs_the_rest) {
    const auto sink = std::make_shared<line_keeper>();
    decision_log log(sink, 1);
    log.on_decision(decision_about(retry_reason::kv_locked), log_start);
    log.on_decision(decision_about(retry_reason::kv_locked), log_start);
    log.on_decision(decision_about(retry_reason::kv_temporary_failure), log_start + 300ms);
    log.on_decision(decision_about(retry_reason::kv_temporary_failure), log_start + 300ms);
    EXPECT_EQ(sink->decisions.size(), 2U);
    log.on_time(log_start + 1s);
    EXPECT_EQ(sink->sums.size(), 1U);
    EXPECT_EQ(log.next_due(), log_start + 1300ms);
    log.flush();
    ASSERT_EQ(sink->sums.size(), 2U);
    EXPECT_EQ(sink->sums[1].second, "KV_TEMPORARY_FAILURE: 1 more decisions in 1 s");
}

TEST(decision_log, RH_14_zero_means_no_limit_and_no_sink_means_nothing) {
    const auto sink = std::make_shared<line_keeper>();
    decision_log log(sink, 0);
    decision_log silent(nullptr, 1);
    for (int index = 0; index < 1000; ++index) {
        log.on_decision(decision_about(retry_reason::kv_locked), log_start);
        silent.on_decision(decision_about(retry_reason::kv_locked), log_start);
    }
    EXPECT_EQ(sink->decisions.size(), 1000U);
    EXPECT_FALSE(log.next_due().has_value());
    EXPECT_FALSE(silent.next_due().has_value());
    EXPECT_FALSE(silent.is_on());
}

TEST(decision_log, RH_14_with_a_limit_no_decision_is_lost_from_the_count) {
    scripted_cluster cluster(1);
    engine_options options;
    options.log_decisions_per_second_max = 10;
    const auto sink = std::make_shared<line_keeper>();
    options.log = sink;
    engine_driver driver(cluster, options);
    driver.connect();
    cluster.on_request = [](const seen_request& seen) -> std::optional<answer> {
        return seen.op == opcode::get ? std::optional(answer{.status = status::etmpfail})
                                      : std::nullopt;
    };
    for (int index = 0; index < 200; ++index) {
        driver.get("k" + std::to_string(index));
    }
    driver.advance(999ms);
    EXPECT_EQ(sink->decisions.size(), 10U);
    const std::uint64_t retries = driver.engine().statistics().retries;
    driver.advance(1ms);
    ASSERT_EQ(sink->sums.size(), 1U);
    EXPECT_EQ(
        sink->sums[0].second,
        "KV_TEMPORARY_FAILURE: " + std::to_string(retries - 10) + " more decisions in 1 s");
}

}  // namespace reprise::engine::testing
