#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include <reprise/retry/blocking.hpp>
#include <reprise/retry/fallback.hpp>
#include <reprise/retry/lint.hpp>
#include <reprise/retry/presets.hpp>
#include <reprise/retry/simple_strategy.hpp>
#include <reprise/retry/standard_strategy.hpp>

namespace reprise {

using namespace std::chrono_literals;

namespace settings_test {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

/// The field that `change` makes invalid.
template <class Change>
[[nodiscard]] std::string refused_field(Change&& change) {
    standard_strategy::options options;
    change(options);
    const auto error = check(options);
    if (!error) {
        return "accepted";
    }
    EXPECT_FALSE(error->message.empty());
    try {
        standard_strategy strategy(options);
        return "constructed";
    } catch (const invalid_settings& thrown) {
        EXPECT_EQ(thrown.field(), error->field);
    }
    return error->field;
}

[[nodiscard]] bool warns(const std::vector<settings_warning>& warnings, const std::string& field) {
    return std::ranges::any_of(warnings, [&](const auto& w) { return w.field == field; });
}

}  // namespace settings_test

TEST(settings, contradictions_are_refused_by_field_name) {
    using settings_test::infinity;
    using settings_test::nan;
    using settings_test::refused_field;
    using o = standard_strategy::options;
    EXPECT_EQ(refused_field([](o& s) { s.attempts_max = 0; }), "attempts_max");
    // `attempts(-1)`, which was unlimited.
    EXPECT_EQ(refused_field([](o& s) { s.attempts_max = 0xffffffffU; }), "attempts_max");
    EXPECT_EQ(refused_field([](o& s) { s.attempts_max = 0x80000000U; }), "attempts_max");
    EXPECT_EQ(refused_field([](o& s) { s.backoff.cap = 500ms; }), "backoff.cap");
    EXPECT_EQ(refused_field([](o& s) { s.backoff.base = -1s; }), "backoff.base");
    EXPECT_EQ(refused_field([](o& s) { s.backoff.factor = 0.5; }), "backoff.factor");
    EXPECT_EQ(refused_field([](o& s) { s.backoff.factor = nan; }), "backoff.factor");
    EXPECT_EQ(
        refused_field([](o& s) { s.backoff.hint_excess_max = -1s; }), "backoff.hint_excess_max");
    // Options without effect are refused, too.
    const auto decorrelated = [](o& s) { s.backoff.jitter = jitter::decorrelated; };
    EXPECT_EQ(refused_field(decorrelated), "accepted");
    EXPECT_EQ(
        refused_field([&](o& s) { decorrelated(s), s.backoff.factor = 3.0; }), "backoff.factor");
    EXPECT_EQ(refused_field([&](o& s) { decorrelated(s), s.backoff.step = 1s; }), "backoff.step");
    EXPECT_THROW(
        static_cast<void>(attempts(3).every(1s).with_jitter(jitter::decorrelated)),
        invalid_settings);
    EXPECT_EQ(refused_field([](o& s) { s.bucket.capacity = 0; }), "bucket.capacity");
    EXPECT_EQ(refused_field([](o& s) { s.bucket.capacity = infinity; }), "bucket.capacity");
    EXPECT_EQ(refused_field([](o& s) { s.bucket.initial = 501.0; }), "bucket.initial");
    EXPECT_EQ(refused_field([](o& s) { s.bucket.initial = nan; }), "bucket.initial");
    EXPECT_EQ(refused_field([](o& s) { s.prices.retry = 501; }), "prices.retry");
    EXPECT_EQ(refused_field([](o& s) { s.prices.timeout = nan; }), "prices.timeout");
    EXPECT_EQ(refused_field([](o& s) { s.prices.throttling = -1.0; }), "prices.throttling");
    EXPECT_EQ(refused_field([](o& s) { s.prices.refund = -0.5; }), "prices.refund");
    EXPECT_EQ(refused_field([](o&) {}), "accepted");
}

TEST(settings, other_budgets_check_their_options_too) {
    EXPECT_EQ(check(failure_throttle_options{.units_max = 0})->field, "units_max");
    EXPECT_EQ(check(failure_throttle_options{.ratio = 0.0001})->field, "ratio");
    EXPECT_EQ(check(failure_throttle_options{.ratio = 1e300})->field, "ratio");
    EXPECT_FALSE(check(failure_throttle_options{.ratio = 1000}));
    EXPECT_EQ(check(windowed_budget_options{.percent = -1})->field, "percent");
    EXPECT_EQ(
        check(windowed_budget_options{.minimum_per_second = settings_test::nan})->field,
        "minimum_per_second");
    EXPECT_EQ(check(windowed_budget_options{.window = 10ms})->field, "window");
    EXPECT_THROW(driver::token_bucket_budget(nullptr), invalid_settings);
    EXPECT_THROW(static_cast<void>(presets::finagle({.window = 0s})), invalid_settings);
    EXPECT_THROW(driver::exponential_backoff({.base = 2s, .cap = 1s}), invalid_settings);
    const auto small = std::make_shared<token_bucket>(token_bucket::options{3});
    EXPECT_THROW(standard_strategy({}, small), invalid_settings) << "a retry costs 5";
}

TEST(settings, the_ends_of_each_range_are_accepted) {
    using settings_test::refused_field;
    using o = standard_strategy::options;
    const auto accepts = [](auto&& change) { EXPECT_EQ(refused_field(change), "accepted"); };
    accepts([](o& s) { s.attempts_max = 1; });
    accepts([](o& s) { s.attempts_max = 0x7fffffffU; });
    accepts([](o& s) { s.backoff.base = s.backoff.step = 0s; });
    accepts([](o& s) { s.backoff.cap = s.backoff.base; });
    accepts([](o& s) { s.backoff.factor = 1.0; });
    accepts([](o& s) { s.backoff.hint_excess_max = 0s; });
    accepts([](o& s) { s.bucket.capacity = 1e12; });
    accepts([](o& s) { s.bucket.initial = 0.0; });
    accepts([](o& s) { s.bucket.initial = s.bucket.capacity; });
    accepts([](o& s) { s.prices.retry = s.bucket.capacity; });
    accepts([](o& s) { s.prices.retry = s.prices.timeout = s.prices.refund = 0.0; });
    accepts([](o& s) { s.bucket.capacity = s.prices.timeout = 4'000'000.0; });
    EXPECT_EQ(
        refused_field([](o& s) {
            s.bucket.capacity = 1e9;
            s.prices.timeout = 4'000'001.0;
        }),
        "prices.timeout");
    EXPECT_EQ(refused_field([](o& s) { s.bucket.capacity = 1.1e12; }), "bucket.capacity");
    EXPECT_EQ(refused_field([](o& s) { s.bucket.initial = -0.1; }), "bucket.initial");
    EXPECT_EQ(refused_field([](o& s) { s.backoff.step = -1ns; }), "backoff.step");
    EXPECT_FALSE(check(failure_throttle_options{.units_max = 1000, .ratio = 0.001}));
    EXPECT_TRUE(check(failure_throttle_options{.units_max = 1001}));
    for (const windowed_budget_options& options :
         {windowed_budget_options{.percent = 0, .minimum_per_second = 0, .window = 1s},
          windowed_budget_options{.percent = 1000, .minimum_per_second = 10'000, .window = 60s}}) {
        EXPECT_FALSE(check(options));
    }
    EXPECT_FALSE(check(windowed_budget_options{.percent = 0.1}));
    EXPECT_EQ(check(windowed_budget_options{.percent = 0.09})->field, "percent") << "would be 0";
    EXPECT_EQ(check(windowed_budget_options{.percent = 1001})->field, "percent");
    EXPECT_EQ(
        check(windowed_budget_options{.minimum_per_second = 10'001})->field, "minimum_per_second");
    EXPECT_EQ(
        check(windowed_budget_options{.minimum_per_second = -1})->field, "minimum_per_second");
    EXPECT_EQ(check(windowed_budget_options{.window = 61s})->field, "window");
    EXPECT_EQ(
        check(windowed_budget_options{.minimum_per_second = 0.09, .window = 10s})->field,
        "minimum_per_second")
        << "would never pay for a retry";
    EXPECT_FALSE(check(windowed_budget_options{.minimum_per_second = 0.1, .window = 10s}));
}

TEST(settings, figures_describe_the_effect_of_the_settings) {
    const settings_figures f = figures({}, {.service_capacity = 1000});
    EXPECT_DOUBLE_EQ(f.worst_amplification, 5.0);
    EXPECT_DOUBLE_EQ(f.lasting_amplification, 1.2);
    EXPECT_EQ(f.give_up_after, 15s);
    EXPECT_DOUBLE_EQ(f.recovery_load, 200.0);
    standard_strategy::options endless;
    endless.attempts_max = 0x7fffffffU;
    endless.backoff.cap = duration::max();
    EXPECT_EQ(figures(endless).give_up_after, duration::max()) << "no overflow";
}

TEST(settings, lint_is_quiet_about_the_defaults_and_names_each_danger) {
    EXPECT_TRUE(lint({}).empty());
    using settings_test::warns;
    standard_strategy::options options;
    options.backoff.jitter = jitter::none;
    EXPECT_TRUE(warns(lint(options), "backoff.jitter"));
    options = {};
    options.attempts_max = 9;
    EXPECT_TRUE(warns(lint(options), "attempts_max"));
    options = {};
    options.prices.retry = 0;
    EXPECT_TRUE(warns(lint(options), "prices.retry"));
    options = {};
    options.prices.refund = 10;
    EXPECT_TRUE(warns(lint(options), "prices.refund"));
    options = {};
    options.backoff.base = 0s;
    EXPECT_TRUE(warns(lint(options), "backoff.base"));
    EXPECT_TRUE(warns(lint({}, {.service_capacity = 1000, .load = 300}), "attempts_max"));
    EXPECT_TRUE(lint({}, {.service_capacity = 1000, .load = 150}).empty());
    EXPECT_TRUE(lint({}, {.service_capacity = 1000, .load = 200}).empty()) << "exactly the limit";
}

TEST(settings, lint_warns_of_calls_that_take_more_than_five_minutes_to_fail) {
    standard_strategy::options options;
    options.attempts_max = 2;
    for (const auto& [longest, is_long] : {std::pair{299s, false}, {330s, true}}) {
        options.backoff.base = longest;
        options.backoff.cap = longest;
        const std::vector<settings_warning> warnings = lint(options);
        EXPECT_EQ(
            std::ranges::any_of(
                warnings,
                [](const auto& each) { return each.message.starts_with("a request may take"); }),
            is_long)
            << longest.count();
    }
}

TEST(settings, lint_warns_of_nothing_that_a_single_attempt_cannot_do) {
    using settings_test::warns;
    standard_strategy::options options;
    options.backoff.jitter = jitter::none;
    options.backoff.base = 0s;
    options.prices.retry = 0;
    options.attempts_max = 1;
    EXPECT_TRUE(lint(options).empty());
    options.attempts_max = 2;
    for (const char* field : {"backoff.jitter", "backoff.base", "prices.retry"}) {
        EXPECT_TRUE(warns(lint(options), field)) << field;
    }
}

TEST(settings, lint_warns_of_calls_that_take_minutes_to_fail) {
    using settings_test::warns;
    standard_strategy::options options;
    options.attempts_max = 4;
    options.backoff = {.base = 100s, .factor = 1.0, .cap = 100s};
    EXPECT_EQ(figures(options).give_up_after, 5min);
    EXPECT_FALSE(warns(lint(options), "attempts_max")) << "five minutes are the limit";
    options.attempts_max = 5;
    const auto warnings = lint(options);
    ASSERT_TRUE(warns(warnings, "attempts_max"));
    EXPECT_EQ(warnings.back().message, "a request may take 400 s to fail");
    options = {};
    options.prices = {.retry = 1, .refund = 1};
    EXPECT_FALSE(warns(lint(options), "prices.refund")) << "twice the load is the limit";
    options.backoff.base = 1ms;
    EXPECT_FALSE(warns(lint(options), "backoff.base"));
}

// An object made by `std::bind` swallows arguments that nothing in it uses. The time limit was
// passed to it and had no effect.
TEST(settings, a_time_limit_for_attempts_is_refused_if_a_bound_operation_would_not_see_it) {
    using namespace std::placeholders;
    const auto fetch = [](unsigned value) { return value; };
    const auto read = [](unsigned value, const attempt& current) {
        return current.timeout == 10ms ? value : 0U;
    };
    const auto run = [](auto operation) {
        return retry(attempts(3), {.attempt_timeout = 10ms}, operation);
    };
    EXPECT_THROW(static_cast<void>(run(std::bind(fetch, 1U))), invalid_settings);
    auto bound = std::bind(fetch, 1U);
    EXPECT_THROW(static_cast<void>(run(std::ref(bound))), invalid_settings);
    EXPECT_THROW(static_cast<void>(run(throws_on_failure(bound))), invalid_settings);
    EXPECT_THROW(static_cast<void>(run(with_fallback(2U, bound))), invalid_settings);
    EXPECT_EQ(run(std::bind(read, 1U, _1)), 1U);
    EXPECT_EQ(retry(attempts(3), {.timeout = 1h}, bound), 1U);
}

}  // namespace reprise
