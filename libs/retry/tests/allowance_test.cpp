#include <gtest/gtest.h>

#include <reprise/retry.hpp>
#include <reprise/testing/scripted.hpp>

namespace reprise {

namespace nesting_test {

struct nest {
    testing::virtual_clock clock;
    testing::scripted_random random{testing::scripted_random::lowest};
    retry_history outer_trace;
    retry_history inner_trace;
    standard_strategy outer;
    standard_strategy inner;
    int sends = 0;

    testing::scripted_result run(bool hand_down) {
        return retry(
            outer, {.history = &outer_trace, .clock = &clock, .random = &random},
            [&](const attempt& current) {
                return retry(
                    inner,
                    {.outer_allowance = hand_down ? current.allowance : nullptr,
                     .history = &inner_trace,
                     .clock = &clock,
                     .random = &random},
                    [&]() -> testing::scripted_result {
                        ++sends;
                        return testing::scripted_error{0, testing::transient()};
                    });
            });
    }
};

}  // namespace nesting_test

TEST(nesting, without_an_allowance_attempts_multiply) {
    nesting_test::nest nest;
    EXPECT_FALSE(nest.run(false).has_value());
    EXPECT_EQ(nest.sends, 25);
}

TEST(nesting, an_allowance_limits_all_nested_loops_to_the_outer_loops_attempts) {
    nesting_test::nest nest;
    EXPECT_FALSE(nest.run(true).has_value());
    EXPECT_EQ(nest.sends, 5)
        << "one send and the outer loop's four retries, wherever they are made";
    EXPECT_EQ(nest.outer_trace.refusal(), refusal_reason::outer_allowance)
        << "the inner loop has used the outer loop's retries";
    EXPECT_EQ(nest.inner_trace.refusal(), refusal_reason::attempts_exhausted);
}

TEST(nesting, an_exhausted_outer_loop_stops_the_inner_one_without_charging_it) {
    driver::retry_allowance spent(0);
    standard_strategy strategy;
    testing::virtual_clock clock;
    retry_history trace;
    auto operation = testing::scripted_operation{testing::transient()}.fail_forever();
    EXPECT_FALSE(
        retry(strategy, {.outer_allowance = &spent, .history = &trace, .clock = &clock}, operation)
            .has_value());
    EXPECT_EQ(operation.calls(), 1U);
    EXPECT_EQ(trace.refusal(), refusal_reason::outer_allowance);
    EXPECT_EQ(strategy.budget().bucket()->milli_level(), detail::milli_units(500));
}

TEST(nesting, a_refusal_for_another_reason_returns_the_allowance) {
    driver::retry_allowance outer(3);
    standard_strategy strategy;
    testing::virtual_clock clock;
    testing::scripted_operation operation{testing::permanent()};
    EXPECT_FALSE(
        retry(strategy, {.outer_allowance = &outer, .clock = &clock}, operation).has_value());
    EXPECT_EQ(outer.left(), 3U);
}

TEST(nesting, three_levels_take_from_every_enclosing_one) {
    driver::retry_allowance top(1);
    driver::retry_allowance middle(5, &top);
    EXPECT_TRUE(middle.try_take());
    EXPECT_FALSE(middle.try_take()) << "the top is exhausted";
    EXPECT_EQ(middle.left(), 4U) << "what the outer level refused was returned";
    middle.give_back();
    EXPECT_EQ(top.left(), 1U);
    EXPECT_EQ(driver::retry_allowance(std::nullopt).left(), std::nullopt);
}

}  // namespace reprise
