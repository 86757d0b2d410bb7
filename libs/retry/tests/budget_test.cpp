#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <thread>
#include <vector>

#include <reprise/retry/budget.hpp>
#include <reprise/testing/scripted.hpp>

#include "windowed_eras.hpp"

/// The exact levels of the budgets that `presets_test.cpp` uses in whole loops.

namespace reprise {

using namespace std::chrono_literals;

namespace budget_test {

constexpr time_point start{1h};

}  // namespace budget_test

using budget_test::start;

TEST(failure_throttle, a_failure_empties_what_is_less_than_a_unit) {
    failure_throttle throttle({.units_max = 2, .ratio = 0.5});
    for (int failures = 0; failures < 2; ++failures) {
        throttle.on_failure({}, start);
    }
    EXPECT_EQ(throttle.try_pay({}, start).level, 0);
    throttle.on_success(0, 1, start);
    EXPECT_EQ(throttle.try_pay({}, start).level, 500);
    throttle.on_failure({}, start);
    EXPECT_EQ(throttle.try_pay({}, start).level, 0) << "half a unit cannot pay a whole one";
}

TEST(failure_throttle, retries_are_free_above_half_of_the_units) {
    failure_throttle throttle({.units_max = 4, .ratio = 1});
    EXPECT_TRUE(throttle.try_pay({}, start).paid);
    throttle.on_failure({}, start);
    const payment at_three = throttle.try_pay({}, start);
    EXPECT_TRUE(at_three.paid);
    EXPECT_EQ(at_three.cost, 0U);
    EXPECT_EQ(at_three.level, 3000) << "a retry takes nothing";
    throttle.on_failure({}, start);
    EXPECT_FALSE(throttle.try_pay({}, start).paid) << "exactly half is not more than half";
}

TEST(windowed_budget, earns_its_minimum_from_the_first_millisecond) {
    windowed_budget budget({.percent = 0, .minimum_per_second = 1, .window = 1s});
    const payment paid = budget.try_pay({}, start);
    EXPECT_TRUE(paid.paid);
    EXPECT_EQ(paid.cost, 1000U);
    EXPECT_EQ(paid.level, 0);
    EXPECT_EQ(budget.milli_level(start), 0);
    EXPECT_EQ(budget.milli_level(start + 1ms), 1) << "a thousandth of a retry";
    EXPECT_FALSE(budget.try_pay({}, start + 999ms).paid);
    const payment again = budget.try_pay({}, start + 1s);
    EXPECT_TRUE(again.paid) << "what it earned in between is not lost";
    EXPECT_EQ(budget.milli_level(start + 1h), 1000) << "never more than the window's minimum";
    EXPECT_EQ(budget.level(start + 1h), 1.0) << "in units, as a token bucket's";
}

TEST(windowed_budget, a_retry_that_is_not_made_is_given_back) {
    windowed_budget budget({.percent = 0, .minimum_per_second = 1, .window = 1s});
    const payment paid = budget.try_pay({}, start);
    ASSERT_TRUE(paid.paid);
    budget.give_back(paid.cost, start);
    EXPECT_EQ(budget.milli_level(start), 1000);
}

TEST(windowed_budget, threads_lose_no_units) {
    windowed_budget budget({.percent = 0, .minimum_per_second = 10'000, .window = 10s});
    const std::int64_t before = budget.milli_level(start);
    std::atomic<std::int64_t> paid{0};
    std::latch ready(4);
    {
        std::vector<std::jthread> threads;
        for (int index = 0; index < 4; ++index) {
            threads.emplace_back([&] {
                ready.arrive_and_wait();
                for (int round = 0; round < 24'000; ++round) {
                    paid += budget.try_pay({}, start).paid ? 1 : 0;
                }
            });
        }
    }
    EXPECT_EQ(paid.load(), 96'000);
    EXPECT_EQ(before - budget.milli_level(start), detail::milli_units(96'000));
}

// Found in Wine: between the two steps of the first payment, another thread let the credit age once
// more, which returned what had been paid.
TEST(windowed_budget, the_first_payments_of_several_threads_are_all_charged) {
    constexpr int thread_count = 3;
    std::vector<windowed_budget> budgets;
    for (int each = 0; each < 20'000; ++each) {
        budgets.emplace_back(
            windowed_budget_options{.percent = 0, .minimum_per_second = 10, .window = 1s});
    }
    std::latch ready(thread_count);
    {
        std::vector<std::jthread> threads;
        for (int index = 0; index < thread_count; ++index) {
            threads.emplace_back([&] {
                ready.arrive_and_wait();
                for (windowed_budget& budget : budgets) {
                    static_cast<void>(budget.try_pay({}, start));
                }
            });
        }
    }
    for (const windowed_budget& budget : budgets) {
        ASSERT_EQ(budget.milli_level(start), 10'000 - thread_count * 1000);
    }
}

TEST(windowed_budget, a_slow_minimum_adds_up) {
    windowed_budget budget({.percent = 0, .minimum_per_second = 0.5, .window = 2s});
    ASSERT_TRUE(budget.try_pay({}, start).paid);
    for (int tick = 1; tick <= 10; ++tick) {
        budget.on_request(start + tick * 1ms);
    }
    EXPECT_EQ(budget.milli_level(start + 10ms), 5) << "half a thousandth in each millisecond";
}

TEST(windowed_budget, each_request_deposits_its_share_and_a_retry_takes_a_unit) {
    windowed_budget budget({.percent = 20, .minimum_per_second = 0});
    for (int request = 0; request < 4; ++request) {
        budget.on_request(start);
    }
    const payment refused = budget.try_pay({}, start);
    EXPECT_FALSE(refused.paid);
    EXPECT_EQ(refused.cost, 1000U);
    EXPECT_EQ(refused.level, 800);
    budget.on_request(start);
    EXPECT_EQ(budget.try_pay({}, start).level, 0) << "a whole unit is enough";
}

// 0.15 % was rounded to 0.2 %, a third more than what was allowed.
TEST(windowed_budget, never_pays_more_than_its_percentage) {
    const auto deposit = [](double percent) {
        windowed_budget budget({.percent = percent, .minimum_per_second = 0});
        budget.on_request(start);
        return budget.milli_level(start);
    };
    EXPECT_EQ(deposit(0.15), 1);
    EXPECT_EQ(deposit(20.05), 200);
    EXPECT_EQ(deposit(0.1999), 1);
    for (int tenths = 0; tenths <= 10'000; ++tenths) {
        ASSERT_EQ(deposit(tenths / 10.0), tenths) << "tenths of a percent are exact";
    }
    EXPECT_EQ(
        windowed_budget({.percent = 0, .minimum_per_second = 1.9996, .window = 1s})
            .milli_level(start),
        1999);
}

TEST(token_bucket_budget, each_kind_of_failure_has_its_price) {
    const auto bucket = std::make_shared<token_bucket>();
    driver::token_bucket_budget budget(
        bucket, {.retry = 1, .timeout = 2, .throttling = 3, .refund = 4});
    EXPECT_EQ(budget.try_pay(testing::transient(), start).cost, 1000U);
    EXPECT_EQ(budget.try_pay(testing::timed_out(), start).cost, 2000U);
    EXPECT_EQ(budget.try_pay(testing::throttled(), start).cost, 3000U);
    EXPECT_EQ(bucket->milli_level(), detail::milli_units(494));
    budget.on_success(2000, 2, start);
    EXPECT_EQ(bucket->milli_level(), detail::milli_units(498));
}

TEST(token_bucket_budget, a_success_returns_the_last_cost_only_after_a_retry) {
    const auto bucket = std::make_shared<token_bucket>();
    driver::token_bucket_budget budget(
        bucket, {.retry = 20, .refund = 3, .refund_last_cost = true});
    ASSERT_TRUE(budget.try_pay(testing::transient(), start).paid);
    budget.on_success(20'000, 1, start);
    EXPECT_EQ(bucket->milli_level(), detail::milli_units(483));
    budget.on_success(15'000, 2, start);
    EXPECT_EQ(bucket->milli_level(), detail::milli_units(498));
}

// A thread that had read its clock first saw the word of the new era and the number of the old one.
// It took the difference of the ticks for 49 days, and filled the whole reserve.
TEST(windowed_budget, a_word_of_a_new_era_is_recognised_before_the_era_is_published) {
    constexpr time_point wrap{std::chrono::milliseconds{std::int64_t{1} << 31}};
    const auto eras = [](time_point word, time_point published, time_point now) {
        return detail::eras_since(detail::tick_of(word), detail::era_of(published), now);
    };
    for (const time_point begin : {wrap, 2 * wrap.time_since_epoch() + time_point{}}) {
        const time_point before = begin - 1ms;
        EXPECT_EQ(eras(begin + 5ms, before, begin + 4ms), 0) << "not published yet";
        EXPECT_EQ(eras(begin + 5ms, begin + 5ms, begin + 4ms), 0) << "published";
        EXPECT_EQ(eras(before, before, begin + 4ms), 1) << "the word is of the old era";
        EXPECT_EQ(eras(before, before, begin + wrap.time_since_epoch()), 2);
        EXPECT_EQ(eras(begin + 5ms, begin + 5ms, before), -1) << "a clock that was read before";
    }
}

TEST(windowed_budget, threads_at_the_beginning_of_an_era_gain_nothing) {
    constexpr time_point wrap{std::chrono::milliseconds{std::int64_t{1} << 31}};
    constexpr int rounds = 500;
    std::vector<windowed_budget> budgets;
    for (int each = 0; each < rounds; ++each) {
        budgets.emplace_back(
            windowed_budget_options{.percent = 0.1, .minimum_per_second = 10, .window = 10s});
        while (budgets.back().try_pay({}, wrap - 1ms).paid) {
        }
    }
    std::atomic<int> arrived = 0;
    const auto run = [&](time_point now) {
        for (int each = 0; each < rounds; ++each) {
            ++arrived;
            while (arrived.load() < 2 * (each + 1)) {
                std::this_thread::yield();
            }
            budgets[static_cast<std::size_t>(each)].on_request(now);
        }
    };
    std::thread late([&run, wrap] { run(wrap + 4ms); });
    run(wrap + 5ms);
    late.join();
    for (const windowed_budget& each : budgets) {
        ASSERT_LE(each.milli_level(wrap + 5ms), 100) << "6 ms earn 60, and two requests 2";
    }
}

// Each request lost the credit below a thousandth of a retry, so traffic took up to half of the
// minimum away.
TEST(windowed_budget, traffic_does_not_take_the_minimum_away) {
    for (const double minimum : {10.0, 1.9, 1.5, 0.9, 0.7}) {
        windowed_budget budget({.percent = 0, .minimum_per_second = minimum, .window = 10s});
        time_point now = start;
        while (budget.try_pay({}, now).paid) {
        }
        int paid = 0;
        const time_point end = now + 100s;
        for (; now < end; now += 1ms) {
            budget.on_request(now);
            paid += budget.try_pay({}, now).paid ? 1 : 0;
        }
        EXPECT_NEAR(paid, 100 * minimum, 1.0) << minimum;
    }
}

}  // namespace reprise
