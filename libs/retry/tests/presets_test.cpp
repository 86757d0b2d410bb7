/// Golden traces: a preset, a script of failures and randomness in the middle of each range produce
/// exact delays, levels and final reasons.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include <reprise/retry.hpp>
#include <reprise/retry/presets.hpp>
#include <reprise/testing/scripted.hpp>

namespace reprise {

using namespace std::chrono_literals;

namespace presets_test {

using testing::scripted_operation;
using testing::scripted_random;

/// Formats delays with the budget's level after each charge: "500ms@495 1000ms@490 ... !attempts
/// exhausted".
template <class Strategy>
[[nodiscard]] std::string golden(Strategy& strategy, scripted_operation operation) {
    testing::virtual_clock clock;
    scripted_random random{scripted_random::half};
    retry_history trace;
    const auto result =
        retry(strategy, {.history = &trace, .clock = &clock, .random = &random}, operation);
    std::string text;
    for (std::size_t i = 0; i < trace.entries.size(); ++i) {
        const retry_history::entry& entry = trace.entries[i];
        if (entry.refusal() != refusal_reason::none) {
            text += "!" + std::string(to_string(entry.refusal()));
            continue;
        }
        text += std::to_string(
                    std::chrono::duration_cast<std::chrono::milliseconds>(entry.delay()).count()) +
                "ms@" + std::to_string(entry.budget_level() / 1000) + " ";
    }
    return text + (result.has_value() ? "ok" : "");
}

}  // namespace presets_test

using presets_test::golden;

namespace presets_test {

[[nodiscard]] scripted_operation always(const failure_facts& facts) {
    return scripted_operation{facts}.fail_forever();
}

}  // namespace presets_test

using presets_test::always;
using presets_test::scripted_operation;

TEST(presets, SM_16_standard_makes_five_attempts_with_the_first_included) {
    standard_strategy strategy;
    EXPECT_EQ(
        golden(strategy, always(testing::transient())),
        "500ms@495 1000ms@490 2000ms@485 4000ms@480 !attempts exhausted");
}

TEST(presets, SM_16_the_guides_sample_sends_six_times) {
    standard_strategy strategy(presets::smithy_guide());
    EXPECT_EQ(
        golden(strategy, always(testing::transient())),
        "500ms@495 1000ms@490 2000ms@485 4000ms@480 8000ms@475 !attempts exhausted");
    EXPECT_EQ(
        golden(strategy, always(testing::timed_out())),
        "500ms@465 1000ms@455 2000ms@445 4000ms@435 8000ms@425 !attempts exhausted");
}

TEST(presets, aws_standard_returns_what_the_last_retry_cost) {
    standard_strategy strategy(presets::aws_standard());
    const auto& bucket = *strategy.budget().bucket();
    EXPECT_EQ(
        golden(strategy, always(testing::transient())), "500ms@495 1000ms@490 !attempts exhausted");
    EXPECT_EQ(
        golden(strategy, {testing::transient(), testing::timed_out()}), "500ms@485 1000ms@475 ok");
    EXPECT_EQ(bucket.milli_level(), detail::milli_units(485))
        << "the price of the timeout retry, 10, was returned";
    EXPECT_EQ(golden(strategy, {}), "ok");
    EXPECT_EQ(bucket.milli_level(), detail::milli_units(486)) << "a first-try success adds 1";
}

TEST(presets, aws_2_1_prices_and_bases_differ_for_throttling) {
    auto strategy = presets::aws_2_1();
    EXPECT_EQ(
        golden(strategy, always(testing::transient())), "25ms@486 50ms@472 !attempts exhausted");
    EXPECT_EQ(
        golden(strategy, always(testing::throttled())), "500ms@467 1000ms@462 !attempts exhausted");
    EXPECT_EQ(golden(strategy, {testing::timed_out()}), "25ms@448 ok");
    EXPECT_EQ(strategy.budget().bucket()->milli_level(), detail::milli_units(462));
}

TEST(presets, SM_09_every_strategy_waits_as_long_as_the_service_asks_except_aws_2_1) {
    const auto shortest_wait = [](auto&& strategy, duration hint) {
        testing::virtual_clock clock;
        testing::scripted_random random{testing::scripted_random::lowest};
        auto operation = always(testing::throttled(hint));
        static_cast<void>(
            retry(strategy, {.timeout = 4 * hint, .clock = &clock, .random = &random}, operation));
        return clock.waits().empty() ? duration{} : *std::ranges::min_element(clock.waits());
    };
    for (const duration hint : {duration{1s}, duration{30s}, duration{1h}}) {
        EXPECT_EQ(shortest_wait(standard_strategy{}, hint), hint);
        EXPECT_EQ(shortest_wait(standard_strategy{presets::smithy_guide()}, hint), hint);
        EXPECT_EQ(shortest_wait(standard_strategy{presets::aws_standard()}, hint), hint);
        EXPECT_EQ(shortest_wait(presets::grpc_a6(), hint), hint);
        EXPECT_EQ(shortest_wait(presets::finagle(), hint), hint);
    }
    EXPECT_EQ(shortest_wait(presets::aws_2_1(), 30s), 5s) << "see docs/design/hints_and_prices.md";
}

TEST(presets, aws_2_1_holds_the_hint_within_five_seconds_of_the_computed_delay) {
    auto strategy = presets::aws_2_1();
    EXPECT_EQ(
        golden(strategy, {testing::throttled(60s), testing::throttled(2s)}),
        "5500ms@495 2000ms@490 ok");
    EXPECT_EQ(golden(strategy, {testing::throttled(100ms)}), "500ms@490 ok");
}

TEST(presets, grpc_a6_stops_when_half_of_the_units_are_gone) {
    auto strategy = presets::grpc_a6({.units_max = 10, .ratio = 0.5});
    EXPECT_EQ(
        golden(strategy, always(testing::transient())),
        "50ms@9 100ms@8 200ms@7 !attempts exhausted");
    // Four failures so far leave 6. The next one leaves 5, which is not more than half.
    EXPECT_EQ(golden(strategy, always(testing::transient())), "!budget exhausted");
    EXPECT_EQ(golden(strategy, {}), "ok");
    EXPECT_EQ(golden(strategy, {}), "ok");
    EXPECT_EQ(golden(strategy, {}), "ok");  // 6.5 now
    EXPECT_EQ(golden(strategy, {testing::transient()}), "50ms@5 ok") << "5.5 is more than half";
}

TEST(presets, grpc_a6_counts_failures_that_are_not_retried_and_stops_at_zero) {
    auto strategy = presets::grpc_a6({.units_max = 2.5, .ratio = 0.1});
    for (int request = 0; request < 5; ++request) {
        EXPECT_EQ(golden(strategy, {testing::permanent()}), "!unsafe to retry");
    }
    EXPECT_EQ(golden(strategy, {testing::transient()}), "!budget exhausted");
}

TEST(presets, finagle_allows_the_minimum_rate_and_a_share_of_requests) {
    // No minimum, 20 %: five requests pay for one retry.
    auto strategy = presets::finagle({.percent = 20, .minimum_per_second = 0});
    EXPECT_EQ(golden(strategy, {testing::transient()}), "!budget exhausted");
    for (int request = 0; request < 3; ++request) {
        EXPECT_EQ(golden(strategy, {}), "ok");
    }
    EXPECT_EQ(golden(strategy, {testing::transient()}), "25ms@0 ok");
    // 10 per second over 10 s: a hundred retries without any traffic to earn them.
    windowed_budget reserve({.percent = 0, .minimum_per_second = 10});
    int paid = 0;
    while (reserve.try_pay({}, time_point{} + 1s).paid) {
        ++paid;
    }
    EXPECT_EQ(paid, 100);
    EXPECT_FALSE(reserve.try_pay({}, time_point{} + 1050ms).paid);
    EXPECT_TRUE(reserve.try_pay({}, time_point{} + 1100ms).paid) << "one more every 100 ms";
}

TEST(presets, finagle_doubles_its_delay_up_to_five_seconds) {
    auto strategy = presets::finagle();
    scripted_operation failing(
        {testing::transient(), testing::transient(), testing::transient(), testing::transient(),
         testing::transient(), testing::transient(), testing::transient(), testing::transient(),
         testing::transient()});
    EXPECT_EQ(
        golden(strategy, failing),
        "25ms@99 50ms@98 100ms@97 200ms@97 400ms@98 800ms@99 1600ms@99 2500ms@99 2500ms@99 ok");
}

TEST(presets, a_windowed_budget_drops_old_credit_and_tolerates_older_times) {
    windowed_budget budget({.percent = 100, .minimum_per_second = 0});
    for (int request = 0; request < 100; ++request) {
        budget.on_request(time_point{} + 5s);
    }
    EXPECT_EQ(budget.milli_level(time_point{} + 5s), 100'000);
    EXPECT_EQ(budget.milli_level(time_point{} + 4s), 100'000)
        << "a thread with an older clock reading";
    EXPECT_EQ(budget.milli_level(time_point{} + 6s), 90'000)
        << "a tenth in each tenth of the window";
    EXPECT_LT(budget.milli_level(time_point{} + 65s), 1000)
        << "no credit is left after a quiet minute";
    EXPECT_LE(budget.milli_level(time_point{} + std::chrono::hours{24}), 0);
}

}  // namespace reprise
