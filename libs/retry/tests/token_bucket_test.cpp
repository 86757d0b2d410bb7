#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include <reprise/retry/standard_strategy.hpp>
#include <reprise/testing/scripted.hpp>

namespace reprise {

namespace bucket_test {

[[nodiscard]] driver::retry_question ask(const failure_facts& facts) {
    return {facts, {time_point{}, 0}, driver::no_deadline, repeatability::unspecified};
}

}  // namespace bucket_test

TEST(token_bucket, SM_14_pays_the_whole_cost_or_nothing) {
    token_bucket bucket({.capacity = 12});
    EXPECT_TRUE(bucket.try_take(detail::milli_units(5)).paid);
    EXPECT_TRUE(bucket.try_take(detail::milli_units(5)).paid);
    const auto refused = bucket.try_take(detail::milli_units(5));
    EXPECT_FALSE(refused.paid) << "2 units are left, 5 were asked";
    EXPECT_EQ(refused.level, detail::milli_units(2));
    EXPECT_EQ(bucket.milli_level(), detail::milli_units(2));
}

TEST(token_bucket, SM_14_a_timeout_costs_its_price_also_when_it_is_throttling) {
    const auto cost = [](const driver::retry_prices& prices, bool throttling, bool timeout) {
        driver::token_bucket_budget budget(std::make_shared<token_bucket>(), prices);
        return budget.try_pay({.throttling = throttling, .timeout = timeout}, time_point{}).cost;
    };
    EXPECT_EQ(cost({}, true, true), detail::milli_units(10)) << "as in Smithy's guide";
    EXPECT_EQ(cost({}, false, true), detail::milli_units(10));
    EXPECT_EQ(cost({}, true, false), detail::milli_units(5));
    EXPECT_EQ(cost({.throttling = 2.0}, true, true), detail::milli_units(10));
    EXPECT_EQ(cost({.throttling = 2.0}, true, false), detail::milli_units(2));
}

TEST(token_bucket, SM_14_never_above_capacity_and_never_below_zero) {
    token_bucket bucket({.capacity = 10});
    bucket.give(detail::milli_units(3));
    EXPECT_EQ(bucket.milli_level(), detail::milli_units(10));
    EXPECT_TRUE(bucket.try_take(detail::milli_units(9.5)).paid);
    EXPECT_FALSE(bucket.try_take(detail::milli_units(0.501)).paid);
    EXPECT_TRUE(bucket.try_take(detail::milli_units(0.5)).paid);
    EXPECT_EQ(bucket.milli_level(), 0);
    bucket.give(detail::milli_units(0.25));
    EXPECT_EQ(bucket.milli_level(), detail::milli_units(0.25));
}

TEST(token_bucket, SM_14_defaults_are_500_5_10_and_1) {
    standard_strategy strategy;
    const auto& bucket = *strategy.budget().bucket();
    EXPECT_EQ(bucket.milli_capacity(), detail::milli_units(500));
    EXPECT_EQ(bucket.capacity(), 500.0) << "units, as in the options";
    EXPECT_EQ(bucket.available(), 500.0);
    auto token = strategy.acquire_initial_token();
    token = strategy.refresh_token(token.token, bucket_test::ask(testing::transient()));
    EXPECT_EQ(bucket.milli_level(), detail::milli_units(495));
    token = strategy.refresh_token(token.token, bucket_test::ask(testing::timed_out()));
    EXPECT_EQ(bucket.milli_level(), detail::milli_units(485));
    EXPECT_EQ(strategy.record_success(token.token), std::errc{});
    EXPECT_EQ(bucket.milli_level(), detail::milli_units(486));
}

TEST(token_bucket, SM_14_capacity_prices_and_refund_can_be_configured) {
    standard_strategy::options options;
    options.bucket.capacity = 40;
    options.prices = {.retry = 7, .timeout = 11, .throttling = 3, .refund = 2};
    standard_strategy strategy(options);
    const auto& bucket = *strategy.budget().bucket();
    EXPECT_EQ(bucket.capacity(), 40.0);
    auto token = strategy.acquire_initial_token();
    token = strategy.refresh_token(token.token, bucket_test::ask(testing::transient()));
    EXPECT_EQ(bucket.available(), 33.0);
    token = strategy.refresh_token(token.token, bucket_test::ask(testing::timed_out()));
    EXPECT_EQ(bucket.available(), 22.0);
    EXPECT_EQ(strategy.record_success(token.token), std::errc{});
    EXPECT_EQ(bucket.available(), 24.0);
}

TEST(token_bucket, SM_14_a_random_walk_agrees_with_plain_arithmetic) {
    std::mt19937_64 rng(20240);
    token_bucket bucket({.capacity = 50, .initial = 20.0});
    std::int64_t model = 20'000;
    for (int step = 0; step < 20'000; ++step) {
        const auto amount = static_cast<std::int64_t>(rng() % 9000);
        if (rng() % 2 == 0) {
            const bool expected = model >= amount;
            ASSERT_EQ(bucket.try_take(amount).paid, expected);
            model -= expected ? amount : 0;
        } else {
            bucket.give(amount);
            model = std::min<std::int64_t>(50'000, model + amount);
        }
        ASSERT_EQ(bucket.milli_level(), model);
        ASSERT_GE(bucket.milli_level(), 0);
    }
}

TEST(token_bucket, SM_15_the_initial_token_is_granted_when_the_bucket_is_empty) {
    standard_strategy::options options;
    options.bucket.initial = 0.0;
    standard_strategy strategy(options);
    driver::token_result first = strategy.acquire_initial_token();
    ASSERT_TRUE(first);
    driver::token_result refused =
        strategy.refresh_token(first.token, bucket_test::ask(testing::transient()));
    EXPECT_FALSE(refused);
    EXPECT_EQ(refused.why.refusal, refusal_reason::budget_exhausted);
    EXPECT_EQ(refused.why.budget_level, 0);
}

TEST(token_bucket, SM_15_a_bucket_that_was_refilled_pays_for_the_retry) {
    auto bucket = std::make_shared<token_bucket>(token_bucket::options{500, 0.0});
    standard_strategy strategy({}, bucket);
    driver::token_result first = strategy.acquire_initial_token();
    bucket->give(detail::milli_units(5));
    EXPECT_TRUE(strategy.refresh_token(first.token, bucket_test::ask(testing::transient())));
}

TEST(token_bucket, cold_start_earns_its_burst_from_successes) {
    auto bucket = std::make_shared<token_bucket>(token_bucket::options{500, 0.0});
    standard_strategy strategy({}, bucket);
    for (int request = 0; request < 5; ++request) {
        auto token = strategy.acquire_initial_token();
        ASSERT_EQ(strategy.record_success(token.token), std::errc{});
    }
    auto token = strategy.acquire_initial_token();
    EXPECT_TRUE(strategy.refresh_token(token.token, bucket_test::ask(testing::transient())));
    auto next = strategy.acquire_initial_token();
    EXPECT_FALSE(strategy.refresh_token(next.token, bucket_test::ask(testing::transient())));
}

TEST(token_bucket, SM_17_one_bucket_serves_several_strategies) {
    auto bucket = std::make_shared<token_bucket>(token_bucket::options{10});
    standard_strategy reads({}, bucket);
    standard_strategy::options impatient;
    impatient.attempts_max = 2;
    standard_strategy writes(impatient, bucket);
    auto read = reads.acquire_initial_token();
    auto write = writes.acquire_initial_token();
    EXPECT_TRUE(reads.refresh_token(read.token, bucket_test::ask(testing::transient())));
    EXPECT_TRUE(writes.refresh_token(write.token, bucket_test::ask(testing::transient())));
    auto late = reads.acquire_initial_token();
    EXPECT_EQ(
        reads.refresh_token(late.token, bucket_test::ask(testing::transient())).why.refusal,
        refusal_reason::budget_exhausted);
}

TEST(token_bucket, SM_06_is_exact_under_concurrency) {
    // Two threads take and return 3 units at random. At the end all units are accounted for.
    token_bucket bucket({.capacity = 1000, .initial = 500.0});
    std::atomic<std::int64_t> outside = 0;
    std::atomic<bool> out_of_range = false;
    const auto worker = [&](std::uint64_t seed) {
        std::mt19937_64 rng(seed);
        std::int64_t mine = 0;
        for (int step = 0; step < 50'000; ++step) {
            if (rng() % 2 == 0 || mine == 0) {
                mine += bucket.try_take(3000).paid ? 3000 : 0;
            } else {
                bucket.give(3000);
                mine -= 3000;
            }
            const std::int64_t level = bucket.milli_level();
            if (level < 0 || level > bucket.milli_capacity()) {
                out_of_range = true;
            }
        }
        outside += mine;
    };
    std::thread first(worker, 1);
    std::thread second(worker, 2);
    first.join();
    second.join();
    EXPECT_FALSE(out_of_range.load());
    EXPECT_EQ(bucket.milli_level() + outside.load(), detail::milli_units(500));
}

TEST(token_bucket, SM_06_the_price_is_reserved_and_not_only_checked) {
    // There are units for exactly 100 retries. Two threads together may make no more and no fewer.
    standard_strategy::options options;
    options.bucket.capacity = 500;
    options.attempts_max = 1'000'000;
    standard_strategy strategy(options);
    std::atomic<int> granted = 0;
    const auto worker = [&] {
        for (int request = 0; request < 1000; ++request) {
            auto token = strategy.acquire_initial_token();
            if (strategy.refresh_token(token.token, bucket_test::ask(testing::transient()))) {
                ++granted;
            }
        }
    };
    std::thread first(worker);
    std::thread second(worker);
    first.join();
    second.join();
    EXPECT_EQ(granted.load(), 100);
}

}  // namespace reprise
