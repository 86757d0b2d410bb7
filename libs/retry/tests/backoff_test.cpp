#include <gtest/gtest.h>

#include <limits>
#include <random>

#include <reprise/retry/driver/composed_strategy.hpp>
#include <reprise/testing/scripted.hpp>

namespace reprise {

using namespace std::chrono_literals;
using testing::scripted_random;

TEST(backoff, SM_13_standard_figures_are_1_2_4_8_16_20_20_seconds_before_jitter) {
    const driver::exponential_backoff backoff;
    const duration expected[] = {1s, 2s, 4s, 8s, 16s, 20s, 20s};
    for (std::uint32_t retry = 0; retry < 7; ++retry) {
        EXPECT_EQ(backoff.ceiling(retry), expected[retry]) << retry;
    }
}

// 0 x infinity is no number, and no number is below the cap: after 1,024 retries without a delay
// the next one waited for 20 s.
TEST(backoff, SM_13_a_base_of_zero_stays_zero_at_any_retry_number) {
    const driver::exponential_backoff none({.base = 0s});
    const driver::exponential_backoff steps({.base = 0s, .cap = 1h, .step = 1ms});
    for (const std::uint32_t retry : {0U, 1U, 1023U, 1024U, 5000U}) {
        EXPECT_EQ(none.ceiling(retry), 0s) << retry;
        EXPECT_EQ(steps.ceiling(retry), retry * 1ms) << retry;
    }
    EXPECT_EQ(none.ceiling(std::numeric_limits<std::uint32_t>::max()), 0s);
}

TEST(backoff, SM_13_full_jitter_lies_in_zero_to_d_exclusive_at_the_extremes_of_the_generator) {
    const driver::exponential_backoff backoff;
    EXPECT_EQ(backoff.delay(0, {}, scripted_random::lowest), 0s);
    EXPECT_EQ(backoff.delay(0, {}, scripted_random::half), 500ms);
    EXPECT_LT(backoff.delay(0, {}, scripted_random::highest), 1s);
    EXPECT_GE(backoff.delay(0, {}, scripted_random::highest), 1s - 1ns);
}

TEST(backoff, SM_13_equal_jitter_keeps_half) {
    const driver::exponential_backoff backoff({.jitter = jitter::equal});
    EXPECT_EQ(backoff.delay(1, {}, scripted_random::lowest), 1s);
    EXPECT_EQ(backoff.delay(1, {}, scripted_random::half), 1500ms);
    EXPECT_LT(backoff.delay(1, {}, scripted_random::highest), 2s);
}

TEST(backoff, SM_13_decorrelated_jitter_grows_from_the_previous_delay) {
    const driver::exponential_backoff backoff(
        {.base = 1s, .cap = 20s, .jitter = jitter::decorrelated});
    EXPECT_EQ(backoff.delay(0, {}, scripted_random::lowest), 1s);
    EXPECT_EQ(backoff.delay(0, {}, scripted_random::half), 2s);
    EXPECT_EQ(backoff.delay(1, 4s, scripted_random::half), 1s + 5500ms);
    EXPECT_LT(backoff.delay(9, 19s, scripted_random::highest), 20s);
    EXPECT_EQ(backoff.delay(9, duration::max(), scripted_random::lowest), 1s);
}

TEST(backoff, SM_13_each_decorrelated_delay_of_a_call_grows_from_the_one_before) {
    const driver::exponential_backoff backoff(
        {.base = 1s, .cap = 20s, .jitter = jitter::decorrelated});
    driver::retry_question question;
    question.at.random = scripted_random::half;
    driver::token_state token;
    token.attempt = 1;
    EXPECT_EQ(backoff.wait(token, question), 2s);
    token.attempt = 2;
    EXPECT_EQ(backoff.wait(token, question), 3500ms);
}

TEST(backoff, SM_13_no_jitter_is_exact) {
    const driver::exponential_backoff backoff({.jitter = jitter::none});
    EXPECT_EQ(backoff.delay(2, {}, scripted_random::highest), 4s);
}

TEST(backoff, SM_13_does_not_overflow_at_any_attempt_number) {
    const driver::exponential_backoff wide(
        {.base = 1ns, .factor = 1e300, .cap = duration::max(), .jitter = jitter::none});
    const driver::exponential_backoff usual({.jitter = jitter::none});
    for (const std::uint32_t retry :
         {0U, 1U, 2U, 31U, 32U, 63U, 64U, 1000U, 0x7fffffffU, 0xffffffffU}) {
        EXPECT_GE(wide.ceiling(retry), 1ns) << retry;
        EXPECT_LE(usual.ceiling(retry), 20s) << retry;
        EXPECT_GE(usual.ceiling(retry), 1s) << retry;
    }
    const driver::exponential_backoff flat({.base = 3s, .factor = 1.0, .jitter = jitter::none});
    EXPECT_EQ(flat.ceiling(0xffffffffU), 3s);
    const driver::exponential_backoff nothing(
        {.base = 0s, .factor = 1e300, .jitter = jitter::none});
    EXPECT_GE(nothing.ceiling(0xffffffffU), 0s);
    const driver::exponential_backoff grown(
        {.base = 1ns, .cap = duration::max(), .jitter = jitter::decorrelated});
    const duration far = grown.delay(9, duration::max() / 2, 0xffff'ffff'ffff'ffffU);
    EXPECT_GT(far, duration::max() / 2) << "three times the last delay, limited by the cap";
}

TEST(backoff, SM_13_every_jitter_stays_within_its_bounds_over_random_draws) {
    std::mt19937_64 rng(7);
    for (const jitter kind : {jitter::full, jitter::equal, jitter::decorrelated, jitter::none}) {
        const driver::exponential_backoff backoff({.base = 10ms, .cap = 2s, .jitter = kind});
        duration previous{};
        for (std::uint32_t retry = 0; retry < 2000; ++retry) {
            previous = backoff.delay(retry, previous, rng());
            ASSERT_GE(previous, 0ns);
            ASSERT_LE(previous, 2s);
        }
    }
}

TEST(backoff, SM_09_is_never_shorter_than_the_services_minimum_wait_also_above_the_cap) {
    const driver::exponential_backoff backoff;
    EXPECT_EQ(backoff.respect_hint(1s, {.minimum_wait = 30s}), 30s);
    EXPECT_EQ(backoff.respect_hint(5s, {.minimum_wait = 2s}), 5s) << "it may be longer";
    EXPECT_EQ(backoff.respect_hint(5s, {}), 5s) << "an absent hint is not an error";
    EXPECT_EQ(backoff.respect_hint(5s, {.minimum_wait = -2s}), 5s);
    EXPECT_EQ(backoff.respect_hint(0s, {.minimum_wait = duration::min()}), 0s);
    EXPECT_EQ(backoff.respect_hint(1s, {.minimum_wait = duration::max()}), duration::max());
}

TEST(backoff, a_bounded_excess_keeps_the_hint_near_the_computed_delay) {
    const driver::exponential_backoff backoff({.hint_excess_max = 5s});
    EXPECT_EQ(backoff.respect_hint(1s, {.minimum_wait = 30s}), 6s);
    EXPECT_EQ(backoff.respect_hint(1s, {.minimum_wait = 3s}), 3s);
    EXPECT_EQ(backoff.respect_hint(1s, {.minimum_wait = duration::max()}), 6s);
}

TEST(backoff, time_arithmetic_saturates) {
    EXPECT_EQ(driver::add_saturated(time_point{} + 1s, duration::max()), time_point::max());
    EXPECT_EQ(driver::add_saturated(time_point::min(), -1s), time_point::min());
    EXPECT_EQ(driver::time_left(time_point::min(), time_point{} + 1s), duration::max());
    EXPECT_EQ(driver::time_left(time_point{} + 2s, time_point{} + 1s), 0s);
    EXPECT_EQ(driver::time_left(time_point{}, driver::no_deadline), duration::max());
}

// Without a type of 128 bits, which only some compilers have.
TEST(backoff, SM_13_random_numbers_are_scaled_exactly_at_all_extremes) {
    constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
    static_assert(detail::multiply_high(most, most) == most - 1);
    static_assert(detail::multiply_high(most, 1) == 0);
    static_assert(detail::multiply_high(most, 2) == 1);
    static_assert(detail::multiply_high(0x1'0000'0000, 0x1'0000'0000) == 1);
    static_assert(detail::multiply_high(0xffff'ffff, 0xffff'ffff) == 0);
    static_assert(
        detail::multiply_high(0x1234'5678'9abc'def0, 0xfedc'ba98'7654'3210) ==
        0x121f'a00a'd77d'7422);
    EXPECT_EQ(detail::scale_random(duration::max(), most), duration::max() - 1ns);
    EXPECT_EQ(detail::scale_random(duration::max(), 0), 0ns);
    EXPECT_EQ(detail::scale_random(10ns, most), 9ns);
    EXPECT_EQ(detail::scale_random(10ns, most / 2 + 1), 5ns);
}

}  // namespace reprise
