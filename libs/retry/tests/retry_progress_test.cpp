#include <gtest/gtest.h>

#include <vector>

#include <reprise/retry/driver/admission.hpp>
#include <reprise/retry/driver/orchestrator.hpp>
#include <reprise/retry/driver/retry_strategy.hpp>
#include <reprise/retry/simple_strategy.hpp>

namespace reprise {

using namespace driver;  // NOLINT: tests of one namespace

using namespace std::chrono_literals;

TEST(retry_progress, counts_all_retries_and_the_token_only_those_of_its_strategy) {
    retry_progress progress;
    EXPECT_TRUE(progress.on_unpaid_retry({.delay = 1ms}, {}).is_admitted());
    EXPECT_TRUE(progress.on_proposal(driver::retry_action::after(2ms).remembering(7), {}, {})
                    .is_admitted());
    EXPECT_EQ(progress.retries(), 2U);
    EXPECT_EQ(progress.token().attempt, 2U);
    EXPECT_EQ(progress.token().delay, 2ms);
    EXPECT_EQ(progress.token().memory, 7U);
}

// Seed 1068 of the simulation: a success returned the price of a retry that preceded the last one.
TEST(retry_progress, RH_33_an_unpaid_retry_leaves_nothing_to_return) {
    driver::token_bucket_budget budget(std::make_shared<token_bucket>());
    retry_progress progress;
    ASSERT_TRUE(progress.on_proposal(driver::retry_action::after(1ms), {}, {.budget = &budget})
                    .is_admitted());
    EXPECT_EQ(progress.token().cost, 5000U);
    ASSERT_TRUE(progress.on_unpaid_retry({.delay = 1ms}, {.budget = &budget}).is_admitted());
    EXPECT_EQ(progress.token().cost, 0U);
}

TEST(retry_progress, a_retry_that_is_not_made_returns_only_what_it_took) {
    driver::token_bucket_budget budget(std::make_shared<token_bucket>());
    driver::retry_allowance allowance(3);
    const retry_limits limits{.allowance = &allowance, .budget = &budget};
    retry_progress progress;
    progress.on_not_made(limits, {});
    EXPECT_EQ(allowance.left(), 3U) << "the first attempt takes nothing";
    ASSERT_TRUE(progress.on_proposal(driver::retry_action::after(1ms), {}, limits).is_admitted());
    EXPECT_EQ(allowance.left(), 2U);
    ASSERT_TRUE(progress.on_unpaid_retry({.delay = 1ms}, limits).is_admitted());
    progress.on_not_made(limits, {});
    EXPECT_EQ(allowance.left(), 2U) << "the retry of the protocol took nothing";
    ASSERT_TRUE(progress.on_proposal(driver::retry_action::after(1ms), {}, limits).is_admitted());
    EXPECT_EQ(allowance.left(), 1U);
    progress.on_not_made(limits, {});
    progress.on_not_made(limits, {});
    EXPECT_EQ(allowance.left(), 2U) << "once";
    EXPECT_EQ(progress.token().cost, 0U) << "a success would return nothing";
}

TEST(retry_progress, RH_13_a_capped_retry_is_charged_when_it_is_woken_and_only_once) {
    driver::token_bucket_budget budget(std::make_shared<token_bucket>());
    const retry_limits limits{
        .deadline = time_point{1s}, .at_deadline = deadline_policy::cap, .budget = &budget};
    retry_progress progress;
    ASSERT_TRUE(progress.on_proposal(driver::retry_action::after(2s), {}, limits).is_capped);
    EXPECT_TRUE(progress.is_charge_pending());
    EXPECT_EQ(progress.token().cost, 0U) << "a success would return nothing";
    EXPECT_EQ(progress.on_woken({}, limits).cost, 5000U);
    EXPECT_EQ(progress.token().cost, 5000U);
    EXPECT_FALSE(progress.is_charge_pending());
    EXPECT_EQ(progress.on_woken({}, limits).cost, 0U);
    EXPECT_EQ(progress.retries(), 1U);
}

TEST(retry_progress, RH_13_a_woken_retry_that_the_budget_refuses_is_not_made) {
    driver::retry_allowance none(0);
    const retry_limits limits{
        .deadline = time_point{1s}, .at_deadline = deadline_policy::cap, .allowance = &none};
    retry_progress progress;
    ASSERT_TRUE(progress.on_proposal(driver::retry_action::after(2s), {}, limits).is_capped);
    EXPECT_EQ(progress.retries(), 1U);
    EXPECT_EQ(progress.on_woken({}, limits).refusal, refusal_reason::outer_allowance);
    EXPECT_EQ(progress.retries(), 0U);
    EXPECT_EQ(progress.token().attempt, 1U);
}

namespace retry_progress_test {

struct recorded_decisions final : decision_recorder {
    std::vector<retry_history::entry> entries;
    void record(
        retry_history::entry& entry, const failed_attempt&, const retry_step&) noexcept override {
        entries.push_back(entry);
    }
};

class two_seconds final : public driver::retry_strategy {
public:
    void retry_after(const driver::retry_question&, driver::retry_sink& sink) override {
        sink.answer(driver::retry_action::after(2s));
    }
};

}  // namespace retry_progress_test

TEST(retry_progress, RH_13_a_woken_retry_that_is_not_made_is_recorded_with_its_attempt) {
    retry_progress_test::two_seconds strategy;
    retry_progress_test::recorded_decisions recorded;
    driver::retry_allowance none(0);
    retry_progress progress;
    orchestrator<driver::retry_strategy> core(strategy, progress, nullptr);
    request_terms terms;
    terms.limits = {
        .deadline = time_point{1s}, .at_deadline = deadline_policy::cap, .allowance = &none};
    terms.recorder = &recorded;
    static_cast<void>(core.on_start({}));
    ASSERT_TRUE(core.on_failure({}, terms, {}).is_capped);
    EXPECT_EQ(core.on_woken({}, terms, {}).refusal, refusal_reason::outer_allowance);
    ASSERT_EQ(recorded.entries.size(), 2U);
    EXPECT_EQ(recorded.entries[0].attempt(), 1U);
    EXPECT_EQ(recorded.entries[1].attempt(), 1U);
}

TEST(retry_progress, RH_13_a_capped_retry_of_the_protocol_is_never_charged) {
    driver::retry_allowance none(0);
    const retry_limits limits{
        .deadline = time_point{1s}, .at_deadline = deadline_policy::cap, .allowance = &none};
    retry_progress progress;
    ASSERT_TRUE(progress.on_unpaid_retry({.delay = 2s}, limits).is_capped);
    EXPECT_FALSE(progress.is_charge_pending());
    EXPECT_TRUE(progress.on_woken({}, limits).is_admitted());
}

TEST(retry_progress, a_refusal_of_any_kind_changes_nothing) {
    retry_progress progress;
    const waiting_bound full{1, 1};
    EXPECT_EQ(
        progress.on_proposal(driver::retry_action::no(refusal_reason::unsafe), {}, {}).refusal,
        refusal_reason::unsafe);
    EXPECT_EQ(
        progress.on_proposal(driver::retry_action::after(1ms).remembering(9), {}, {.bound = &full})
            .refusal,
        refusal_reason::queue_full);
    EXPECT_EQ(
        progress.on_unpaid_retry({.delay = 1ms}, {.bound = &full}).refusal,
        refusal_reason::queue_full);
    EXPECT_EQ(progress.retries(), 0U);
    EXPECT_EQ(progress.token().attempt, 1U);
    EXPECT_EQ(progress.token().memory, 0U);
}

TEST(retry_progress, keeps_the_strategys_memory_if_an_answer_has_none) {
    retry_progress progress;
    static_cast<void>(
        progress.on_proposal(driver::retry_action::after(0ms).remembering(3), {}, {}));
    static_cast<void>(progress.on_proposal(driver::retry_action::after(0ms), {}, {}));
    EXPECT_EQ(progress.token().memory, 3U);
}

TEST(retry_progress, is_granted_only_after_a_start_that_was_allowed) {
    retry_progress progress;
    EXPECT_FALSE(progress.is_started());
    EXPECT_FALSE(progress.is_granted());
    progress.on_start({refusal_reason::budget_exhausted, 0});
    EXPECT_TRUE(progress.is_started());
    EXPECT_FALSE(progress.is_granted());
    progress.on_start({});
    EXPECT_TRUE(progress.is_granted());
}

TEST(retry_progress, attempt_counts_near_overflow_end_in_a_refusal) {
    auto strategy = unlimited_attempts();
    retry_question question;
    question.facts.safety = retry_safety::yes;
    retry_progress progress;
    progress.token().attempt = 0xfffffffeU;
    EXPECT_TRUE(progress.on_proposal(strategy.retry_after(progress.token(), question), {}, {})
                    .is_admitted());
    EXPECT_EQ(progress.token().attempt, 0xffffffffU);
    EXPECT_EQ(
        strategy.retry_after(progress.token(), question).refusal(),
        refusal_reason::attempts_exhausted);
}

}  // namespace reprise
