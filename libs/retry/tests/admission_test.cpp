#include <gtest/gtest.h>

#include <vector>

#include <reprise/retry/driver/admission.hpp>
#include <reprise/testing/scripted.hpp>

namespace reprise {

using namespace driver;  // NOLINT: tests of one namespace
namespace admission_test {

using namespace std::chrono_literals;

constexpr time_point asked_at{1h};

/// Records what it is asked. Pays until its units are used up.
class noted_budget final : public driver::retry_budget {
public:
    explicit noted_budget(int left) : left_(left) {}
    driver::payment try_pay(const failure_facts& facts, time_point) noexcept override {
        prices.push_back(facts.timeout);
        return left_-- > 0 ? driver::payment{true, 5000, left_} : driver::payment{false, 5000, 0};
    }
    void on_success(std::uint32_t, std::uint32_t, time_point) noexcept override {}

    std::vector<bool> prices;

private:
    int left_;
};

struct desk {
    waiting_bound bound{0, 2};
    driver::retry_allowance allowance{1};
    noted_budget budget{1};
    retry_limits limits{asked_at + 100ms, deadline_policy::refuse, &bound, &allowance, &budget};
    failure_facts facts = testing::transient();
    proposed_retry retry{10ms, false, asked_at, facts};

    [[nodiscard]] refusal_reason ask() { return admit(retry, limits).refusal; }
};

}  // namespace admission_test

using namespace admission_test;  // NOLINT: one name per test file keeps unity builds apart

TEST(admission, admits_a_retry_that_every_step_allows_and_returns_its_price) {
    desk at;
    const admission answer = admit(at.retry, at.limits);
    EXPECT_TRUE(answer.is_admitted());
    EXPECT_EQ(answer.delay, 10ms);
    EXPECT_EQ(answer.cost, 5000U);
    EXPECT_FALSE(answer.is_capped);
    EXPECT_EQ(at.allowance.left(), 0U);
}

TEST(admission, checks_bound_deadline_allowance_and_budget_in_this_order) {
    desk at;
    at.budget = noted_budget(0);
    at.limits.deadline = asked_at + 5ms;
    at.bound.count = 2;
    ASSERT_TRUE(at.allowance.try_take());
    EXPECT_EQ(at.ask(), refusal_reason::queue_full);
    at.bound.count = 1;
    EXPECT_EQ(at.ask(), refusal_reason::deadline);
    at.limits.deadline = asked_at + 11ms;
    EXPECT_EQ(at.ask(), refusal_reason::outer_allowance);
    EXPECT_TRUE(at.budget.prices.empty()) << "nothing was charged for a retry that is not made";
    at.allowance.give_back();
    EXPECT_EQ(at.ask(), refusal_reason::budget_exhausted);
}

TEST(admission, returns_the_allowance_when_the_budget_refuses) {
    desk at;
    at.budget = noted_budget(0);
    const admission answer = admit(at.retry, at.limits);
    EXPECT_EQ(answer.refusal, refusal_reason::budget_exhausted);
    EXPECT_EQ(answer.cost, 0U) << "a price that was not paid is not returned later";
    EXPECT_EQ(at.allowance.left(), 1U);
}

TEST(admission, SM_19_the_guides_policy_refuses_a_retry_at_the_deadline_or_later) {
    desk at;
    at.retry.delay = 100ms;
    EXPECT_EQ(at.ask(), refusal_reason::deadline);
    at.retry.delay = 100ms - 1ns;
    EXPECT_EQ(at.ask(), refusal_reason::none);
}

TEST(admission, RH_13_the_clients_policy_cuts_the_delay_at_the_deadline) {
    desk at;
    at.limits.at_deadline = deadline_policy::cap;
    at.retry.delay = 1s;
    const admission answer = admit(at.retry, at.limits);
    EXPECT_TRUE(answer.is_admitted());
    EXPECT_TRUE(answer.is_capped);
    EXPECT_EQ(answer.delay, 100ms);
}

TEST(admission, RH_13_a_retry_that_is_capped_takes_nothing) {
    desk at;
    at.limits.at_deadline = deadline_policy::cap;
    at.retry.delay = 1s;
    const admission answer = admit(at.retry, at.limits);
    ASSERT_TRUE(answer.is_capped);
    EXPECT_EQ(answer.cost, 0U);
    EXPECT_EQ(answer.budget_level, -1) << "the budget was not asked";
    EXPECT_EQ(at.allowance.left(), 1U);
    EXPECT_TRUE(at.budget.prices.empty());
}

TEST(admission, an_immediate_retry_needs_no_place_unless_it_waits) {
    desk at;
    at.bound.count = 2;
    at.retry.delay = 0ms;
    EXPECT_EQ(at.ask(), refusal_reason::none);
    at.retry.is_waiting = true;
    EXPECT_EQ(at.ask(), refusal_reason::queue_full);
}

TEST(admission, a_free_retry_charges_nothing_and_still_needs_time_and_a_place) {
    desk at;
    EXPECT_TRUE(admit_unpaid(at.retry, at.limits).is_admitted());
    EXPECT_EQ(at.allowance.left(), 1U);
    EXPECT_TRUE(at.budget.prices.empty());
    at.bound.count = 2;
    EXPECT_EQ(admit_unpaid(at.retry, at.limits).refusal, refusal_reason::queue_full);
    at.bound.count = 0;
    at.retry.delay = 1h;
    EXPECT_EQ(admit_unpaid(at.retry, at.limits).refusal, refusal_reason::deadline);
}

TEST(admission, a_policy_outside_the_enumeration_refuses) {
    desk at;
    at.retry.delay = 1h;
    at.limits.at_deadline = static_cast<deadline_policy>(99);
    EXPECT_EQ(admit_unpaid(at.retry, at.limits).refusal, refusal_reason::deadline);
}

TEST(admission, no_limits_means_no_refusal) {
    EXPECT_TRUE(admit({.delay = duration::max()}, {}).is_admitted());
    EXPECT_EQ(admit({.delay = duration::min()}, {}).delay, duration::zero());
}

}  // namespace reprise
