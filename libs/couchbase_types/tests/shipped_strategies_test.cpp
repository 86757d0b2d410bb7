#include <gtest/gtest.h>

#include <vector>

#include <reprise/couchbase_types/errc.hpp>
#include <reprise/couchbase_types/retry_strategies.hpp>

namespace reprise::couchbase::strategies_test {

using namespace std::chrono_literals;

driver::retry_action ask(
    driver::retry_strategy& strategy, retry_reason reason, bool is_idempotent,
    std::uint32_t attempts = 0) {
    driver::retry_question question;
    question.reason = reason;
    question.repeat = is_idempotent ? repeatability::repeatable : repeatability::not_repeatable;
    question.retry_attempts = attempts;
    driver::retry_sink sink(nullptr, nullptr);
    strategy.retry_after(question, sink);
    EXPECT_EQ(sink.current(), driver::retry_sink::state::answered);
    return *sink.action();
}

// Best effort, except that locked documents are not retried.
class impatient_with_locks final : public best_effort_strategy {
public:
    void retry_after(const driver::retry_question& question, driver::retry_sink& sink) override {
        if (reason_of(question) == retry_reason::kv_locked) {
            return sink.answer(driver::retry_action::no());
        }
        best_effort_strategy::retry_after(question, sink);
    }
};

// A user's fail-fast strategy, as the documentation describes it.
class fails_fast final : public driver::retry_strategy {
public:
    void retry_after(const driver::retry_question&, driver::retry_sink& sink) override {
        sink.answer(driver::retry_action::no());
    }
};

TEST(shipped_strategies, RH_05_best_effort_retries_idempotent_requests_and_allowed_reasons) {
    best_effort_strategy strategy;
    for (const retry_reason_facts& facts : all_retry_reasons()) {
        const bool for_all = facts.allows_non_idempotent_retry;
        const bool is_known = facts.reason != retry_reason::unknown;
        EXPECT_EQ(ask(strategy, facts.reason, true).delay().has_value(), is_known) << facts.name;
        EXPECT_EQ(ask(strategy, facts.reason, false).delay().has_value(), for_all) << facts.name;
    }
}

TEST(shipped_strategies, RH_06_backoff_doubles_from_1_ms_and_stays_at_500_ms) {
    best_effort_strategy strategy;
    const std::vector<duration> expected{1ms,  2ms,   4ms,   8ms,   16ms, 32ms,
                                         64ms, 128ms, 256ms, 500ms, 500ms};
    for (std::uint32_t attempts = 0; attempts < expected.size(); ++attempts) {
        EXPECT_EQ(
            ask(strategy, retry_reason::kv_locked, true, attempts).delay(), expected[attempts]);
    }
    EXPECT_EQ(ask(strategy, retry_reason::kv_locked, true, 4'000'000'000U).delay(), 500ms);
}

TEST(shipped_strategies, RH_06_the_calculator_can_be_replaced) {
    best_effort_strategy fixed([](std::uint32_t attempts, std::uint64_t) -> duration {
        return std::chrono::seconds{attempts + 3};
    });
    EXPECT_EQ(ask(fixed, retry_reason::kv_locked, true, 4).delay(), 7s);
    const backoff_calculator jittered = jittered_calculator();
    EXPECT_LT(jittered(20, ~std::uint64_t{0}), 500ms);
    EXPECT_EQ(jittered(20, 0), 0ms);
    EXPECT_NE(jittered(8, 1ULL << 62U), jittered(8, 1ULL << 63U));
    // The longest delays are those of the calculator without jitter: 1 ms after the first attempt.
    for (std::uint32_t attempts = 0; attempts < 9; ++attempts) {
        const duration longest = jittered(attempts, ~std::uint64_t{0});
        EXPECT_GT(longest, std::chrono::microseconds{900} * (1 << attempts)) << attempts;
        EXPECT_LE(longest, std::chrono::milliseconds{1} * (1 << attempts)) << attempts;
    }
}

TEST(shipped_strategies, RH_08_terminal_reasons_end_the_request_with_their_own_error) {
    fail_fast_on_terminal_error_strategy strategy;
    const std::vector<std::pair<retry_reason, errc>> expected{
        {retry_reason::authentication_error, errc::authentication_failure},
        {retry_reason::tls_error, errc::tls_failure},
        {retry_reason::bucket_access_error, errc::bucket_access_failure},
        {retry_reason::scope_not_found, errc::scope_not_found},
        {retry_reason::collection_not_found, errc::collection_not_found}};
    for (const auto& [reason, error] : expected) {
        const driver::retry_action action = ask(strategy, reason, true);
        EXPECT_FALSE(action.delay()) << to_string(reason);
        EXPECT_EQ(action.error(), error) << to_string(reason);
    }
    best_effort_strategy best_effort;
    for (const retry_reason_facts& facts : all_retry_reasons()) {
        if (!facts.is_terminal()) {
            EXPECT_EQ(
                ask(strategy, facts.reason, false, 3).delay(),
                ask(best_effort, facts.reason, false, 3).delay())
                << facts.name;
        }
    }
}

TEST(shipped_strategies, the_safe_preset_answers_as_the_default_with_jitter_and_a_budget) {
    const auto bucket = std::make_shared<token_bucket>(token_bucket::options{.capacity = 11});
    budgeted_strategy strategy{driver::token_bucket_budget(bucket)};
    EXPECT_EQ(ask(strategy, retry_reason::tls_error, true).error(), errc::tls_failure);
    EXPECT_FALSE(ask(strategy, retry_reason::socket_closed_while_in_flight, false).delay());
    const auto delay = ask(strategy, retry_reason::kv_temporary_failure, true, 20).delay();
    EXPECT_LT(delay.value_or(1h), 1ms) << "zero is drawn";
    driver::retry_budget* const budget = strategy.paying_budget();
    ASSERT_NE(budget, nullptr);
    EXPECT_TRUE(budget->try_pay({}, {}).paid);
    EXPECT_TRUE(budget->try_pay({}, {}).paid);
    EXPECT_FALSE(budget->try_pay({}, {}).paid) << "one of eleven is left, a retry costs five";
    strategy.on_success({}, {});
    EXPECT_EQ(bucket->available(), 2.0);
    EXPECT_NE(budgeted_strategy().paying_budget(), nullptr) << "one of its own";
}

TEST(shipped_strategies, RH_08_tls_and_bucket_failures_match_the_client_error_condition) {
    EXPECT_EQ(make_error_code(errc::tls_failure), error_condition::client_error);
    EXPECT_EQ(make_error_code(errc::bucket_access_failure), error_condition::client_error);
    EXPECT_NE(make_error_code(errc::authentication_failure), error_condition::client_error);
    EXPECT_EQ(make_error_code(errc::ambiguous_timeout), error_condition::timeout);
}

TEST(shipped_strategies, RH_36_overriding_one_reason_leaves_the_others_unchanged) {
    impatient_with_locks strategy;
    best_effort_strategy plain;
    EXPECT_FALSE(ask(strategy, retry_reason::kv_locked, true).delay());
    EXPECT_EQ(
        ask(strategy, retry_reason::kv_temporary_failure, true, 2).delay(),
        ask(plain, retry_reason::kv_temporary_failure, true, 2).delay());
}

TEST(shipped_strategies, RH_07_a_users_fail_fast_takes_a_few_lines) {
    fails_fast strategy;
    EXPECT_FALSE(ask(strategy, retry_reason::kv_locked, true).delay());
}

TEST(shipped_strategies, RH_03_zero_differs_from_no_and_negative_counts_as_zero) {
    EXPECT_EQ(driver::retry_action::after(0ms).delay(), duration::zero());
    EXPECT_EQ(driver::retry_action::after(-5ms).delay(), duration::zero());
    EXPECT_FALSE(driver::retry_action::no().delay());
    EXPECT_FALSE(driver::retry_action::no().error());
    EXPECT_EQ(driver::retry_action::no(errc::document_locked).error(), errc::document_locked);
}

TEST(shipped_strategies, a_sink_keeps_its_first_answer) {
    driver::retry_sink sink(nullptr, {});
    sink.answer(driver::retry_action::after(3ms));
    sink.answer(driver::retry_action::no());
    sink.fail("late");
    EXPECT_EQ(sink.current(), driver::retry_sink::state::answered);
    EXPECT_EQ(sink.action()->delay(), 3ms);
}

}  // namespace reprise::couchbase::strategies_test
