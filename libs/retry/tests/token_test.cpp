#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <thread>
#include <vector>

#include <reprise/retry/standard_strategy.hpp>
#include <reprise/testing/scripted.hpp>

namespace reprise {

namespace {

[[nodiscard]] driver::retry_question question_about(const failure_facts& facts) {
    driver::retry_question question;
    question.facts = facts;
    question.at.random = testing::scripted_random::half;
    return question;
}

/// Counts its calls, and grants an initial token with a delay.
class counting_strategy : public driver::token_issuer<counting_strategy> {
public:
    driver::decision on_start(
        driver::token_state& token, const driver::decision_context&) noexcept {
        token = {};
        token.delay = std::chrono::milliseconds{7};
        return {};
    }
    driver::retry_action retry_after(
        driver::token_state& token, const driver::retry_question&) noexcept {
        ++token.memory;
        return driver::retry_action::after({});
    }
    void on_success(const driver::token_state& token, const driver::decision_context&) noexcept {
        ++successes;
        last_memory = token.memory;
    }
    std::atomic<int> successes = 0;
    std::uint64_t last_memory = 0;
};

}  // namespace

TEST(token, SM_01_carries_the_delay_and_the_strategys_state_also_initially) {
    counting_strategy strategy;
    driver::token_result first = strategy.acquire_initial_token();
    ASSERT_TRUE(first);
    EXPECT_EQ(first.token.delay(), std::chrono::milliseconds{7});
    EXPECT_EQ(first.token.attempt(), 1U);
    driver::token_result second = strategy.refresh_token(first.token, question_about({}));
    driver::token_result third = strategy.refresh_token(second.token, question_about({}));
    EXPECT_EQ(third.token.attempt(), 3U);
    EXPECT_EQ(strategy.record_success(third.token), std::errc{});
    EXPECT_EQ(strategy.last_memory, 2U);
}

TEST(token, SM_02_state_of_single_requests_lives_in_tokens) {
    standard_strategy strategy;
    driver::token_result a = strategy.acquire_initial_token();
    driver::token_result b = strategy.acquire_initial_token();
    for (int round = 0; round < 3; ++round) {
        a = strategy.refresh_token(a.token, question_about(testing::transient()));
        ASSERT_TRUE(a);
    }
    EXPECT_EQ(a.token.attempt(), 4U);
    b = strategy.refresh_token(b.token, question_about(testing::transient()));
    EXPECT_EQ(b.token.attempt(), 2U) << "another request's retries must not count here";
}

TEST(token, SM_03_a_used_token_is_an_invalid_argument_for_refresh_and_success) {
    standard_strategy strategy;
    driver::token_result first = strategy.acquire_initial_token();
    driver::token_result second =
        strategy.refresh_token(first.token, question_about(testing::transient()));
    ASSERT_TRUE(second);
    EXPECT_TRUE(strategy.refresh_token(first.token, question_about(testing::transient()))
                    .is_invalid_argument());
    EXPECT_EQ(strategy.record_success(first.token), std::errc::invalid_argument);
    EXPECT_EQ(strategy.record_success(second.token), std::errc{});
    EXPECT_EQ(strategy.record_success(second.token), std::errc::invalid_argument);
}

TEST(token, SM_03_a_token_of_another_object_of_the_same_type_is_refused_and_stays_usable) {
    standard_strategy issuer;
    standard_strategy other;
    driver::token_result mine = issuer.acquire_initial_token();
    EXPECT_TRUE(other.refresh_token(mine.token, question_about(testing::transient()))
                    .is_invalid_argument());
    EXPECT_EQ(other.record_success(mine.token), std::errc::invalid_argument);
    EXPECT_TRUE(mine.token.is_valid());
    EXPECT_EQ(issuer.record_success(mine.token), std::errc{});
}

TEST(token, SM_03_a_new_strategy_at_an_old_address_refuses_the_old_ones_tokens) {
    std::optional<standard_strategy> place;
    place.emplace();
    driver::token_result old = place->acquire_initial_token();
    place.emplace();
    EXPECT_EQ(place->record_success(old.token), std::errc::invalid_argument);
}

TEST(token, SM_03_moved_from_and_default_tokens_are_invalid) {
    standard_strategy strategy;
    driver::token_result first = strategy.acquire_initial_token();
    driver::retry_token moved = std::move(first.token);
    EXPECT_EQ(strategy.record_success(first.token), std::errc::invalid_argument);
    driver::retry_token empty;
    EXPECT_EQ(strategy.record_success(empty), std::errc::invalid_argument);
    EXPECT_EQ(strategy.record_success(moved), std::errc{});
}

TEST(token, SM_03_SM_07_of_two_threads_using_one_token_exactly_one_succeeds) {
    counting_strategy strategy;
    constexpr int rounds = 2000;
    std::barrier meet(2);
    std::vector<driver::retry_token> tokens;
    for (int round = 0; round < rounds; ++round) {
        tokens.push_back(std::move(strategy.acquire_initial_token().token));
    }
    std::atomic<int> accepted = 0;
    const auto racer = [&] {
        for (driver::retry_token& token : tokens) {
            meet.arrive_and_wait();
            if (strategy.record_success(token) == std::errc{}) {
                ++accepted;
            }
        }
    };
    std::thread first(racer);
    std::thread second(racer);
    first.join();
    second.join();
    EXPECT_EQ(accepted.load(), rounds);
    EXPECT_EQ(strategy.successes.load(), rounds);
}

// Both members of the question were lost on the way to the strategy.
TEST(token, a_refresh_asks_about_noted_failures_and_assumed_facts_as_its_caller_does) {
    struct asked_strategy : driver::token_issuer<asked_strategy> {
        driver::decision on_start(driver::token_state&, const driver::decision_context&) noexcept {
            return {};
        }
        driver::retry_action retry_after(
            driver::token_state&, const driver::retry_question& question) noexcept {
            is_noted = question.is_noted;
            is_assumed = question.is_assumed;
            return driver::retry_action::after({});
        }
        void on_success(const driver::token_state&, const driver::decision_context&) noexcept {}
        bool is_noted = false;
        bool is_assumed = false;
    };
    asked_strategy strategy;
    driver::token_result first = strategy.acquire_initial_token();
    driver::retry_question question = question_about({});
    question.is_noted = true;
    question.is_assumed = true;
    driver::token_result second = strategy.refresh_token(first.token, question);
    EXPECT_TRUE(second);
    EXPECT_TRUE(strategy.is_noted);
    EXPECT_TRUE(strategy.is_assumed);
}

TEST(token, is_small_and_cannot_be_copied) {
    EXPECT_LE(sizeof(driver::retry_token), 32U);
    EXPECT_FALSE(std::is_copy_constructible_v<driver::retry_token>);
    EXPECT_TRUE(std::is_nothrow_move_constructible_v<driver::retry_token>);
}

}  // namespace reprise
