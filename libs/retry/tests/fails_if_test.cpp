#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include <reprise/retry.hpp>
#include <reprise/testing/scripted.hpp>

namespace reprise {

using namespace std::chrono_literals;

namespace fails_if_test {

struct scene {
    testing::virtual_clock clock;
    retry_history trace;
    standard_strategy strategy;
    int calls = 0;

    [[nodiscard]] call_options options() { return {.history = &trace, .clock = &clock}; }
};

/// An answer to a POST, as an adapter describes it: it may have been executed.
struct answer {
    int status = 503;
};

/// An error that states something else for each number.
struct numbered_error {
    int number = 0;
};
[[maybe_unused]] failure_facts retry_facts(const numbered_error& error) {
    switch (error.number) {
        case 1:
            return {.safety = retry_safety::no};
        case 2:
            return {.fault = failure_fault::client};
        case 3:
            return {.safety = retry_safety::yes, .minimum_wait = 30s};
        default:
            return {};
    }
}

struct numbered_result {
    [[nodiscard]] bool has_value() const { return error_.number < 0; }
    [[nodiscard]] const numbered_error& error() const { return error_; }
    [[nodiscard]] double operator*() const { return 1.0; }

    numbered_error error_;
};

}  // namespace fails_if_test

template <>
struct outcome_traits<fails_if_test::answer> {
    static bool is_failure(const fails_if_test::answer& given) noexcept {
        return given.status >= 400;
    }
    static failure_facts facts(const fails_if_test::answer&) noexcept {
        return {.safety = retry_safety::no, .fault = failure_fault::server};
    }
};

using fails_if_test::answer;
using fails_if_test::numbered_result;
using fails_if_test::scene;

TEST(throws_on_failure, every_plain_result_is_a_success_and_exceptions_are_failures) {
    scene s;
    auto count = throws_on_failure([&] {
        return ++s.calls < 3
                   ? throw std::system_error(std::make_error_code(std::errc::connection_refused))
                   : -1;
    });
    EXPECT_EQ(retry(s.strategy, s.options(), count), -1);
    EXPECT_EQ(s.calls, 3);
    EXPECT_FALSE(retry(s.strategy, s.options(), throws_on_failure([] { return false; })));
}

TEST(throws_on_failure, results_that_report_failures_still_do) {
    scene s;
    testing::scripted_operation operation{testing::transient()};
    EXPECT_TRUE(retry(s.strategy, s.options(), throws_on_failure(operation)).has_value());
    EXPECT_EQ(s.trace.failed_attempts(), 1U);
}

TEST(throws_on_failure, stands_inside_or_outside_of_a_fallback) {
    scene s;
    const auto fail = [&]() -> int { throw std::runtime_error("down"); };
    EXPECT_EQ(retry(s.strategy, s.options(), with_fallback(7, throws_on_failure(fail))), 7);
    EXPECT_EQ(retry(s.strategy, s.options(), throws_on_failure(with_fallback(8, fail))), 8);
}

TEST(fails_if, SM_08_a_result_that_the_predicate_calls_a_failure_is_retried) {
    scene s;
    const auto find = [&] { return ++s.calls < 3 ? std::optional<int>{} : std::optional(7); };
    const std::optional<int> found =
        retry(s.strategy, s.options(), fails_if(std::logical_not<>{}, find));
    EXPECT_EQ(found, 7);
    EXPECT_EQ(s.calls, 3);
    EXPECT_EQ(s.trace.failed_attempts(), 2U);
}

TEST(fails_if, SM_08_a_bool_is_judged_by_the_predicate_and_returned_unchanged) {
    scene s;
    const auto save = [&] {
        ++s.calls;
        return false;
    };
    EXPECT_FALSE(retry(s.strategy, s.options(), fails_if(std::logical_not<>{}, save)));
    EXPECT_EQ(s.calls, 5);
    s.calls = 0;
    EXPECT_FALSE(retry(s.strategy, s.options(), fails_if(std::identity{}, save))) << "a success";
    EXPECT_EQ(s.calls, 1);
}

TEST(fails_if, SM_10_a_failure_by_predicate_is_not_repeated_in_a_call_that_is_not_repeatable) {
    scene s;
    call_options once = s.options();
    once.repeat = repeatability::not_repeatable;
    const auto save = [&](const attempt&) {
        ++s.calls;
        return false;
    };
    EXPECT_FALSE(retry(s.strategy, once, fails_if(std::logical_not<>{}, save)));
    EXPECT_EQ(s.calls, 1);
    EXPECT_EQ(s.trace.refusal(), refusal_reason::not_repeatable);
}

TEST(fails_if, SM_08_a_predicate_may_give_facts) {
    scene s;
    const auto too_busy = [](int status) -> std::optional<failure_facts> {
        return status == 429 ? std::optional(testing::throttled(30s)) : std::nullopt;
    };
    const auto ask = [&] { return ++s.calls == 1 ? 429 : 200; };
    EXPECT_EQ(retry(s.strategy, s.options(), fails_if(too_busy, ask)), 200);
    EXPECT_GE(s.clock.elapsed(), 30s);
}

TEST(fails_if, a_predicate_replaces_the_facts_of_the_result) {
    scene s;
    testing::scripted_operation operation{testing::transient()};
    const auto never = [](const testing::scripted_result&) { return false; };
    EXPECT_FALSE(retry(s.strategy, s.options(), fails_if(never, std::ref(operation))).has_value());
    EXPECT_EQ(operation.calls(), 1U);
}

// The predicate named an answer of 503 or an empty one a failure, so the `no` of the POST was lost,
// and it was sent three times.
TEST(fails_if, SM_10_a_result_that_states_no_is_not_retried_whatever_the_predicate_states) {
    scene s;
    const auto post = [&] {
        ++s.calls;
        return answer{};
    };
    const auto is_bad = [](const answer& given) { return given.status != 200; };
    const auto is_safe = [](const answer&) -> std::optional<failure_facts> {
        return failure_facts{.safety = retry_safety::yes};
    };
    for (const auto mark : {repeatability::unspecified, repeatability::repeatable}) {
        call_options options = s.options();
        options.repeat = mark;
        s.calls = 0;
        (void)retry(attempts(3), options, fails_if(is_bad, post));
        EXPECT_EQ(s.calls, 1);
        (void)retry(s.strategy, options, fails_if(is_safe, post));
        EXPECT_EQ(s.calls, 2);
    }
}

TEST(fails_if, SM_10_the_facts_of_a_failed_result_count_for_the_predicate_too) {
    const auto attempts_of = [](int number, repeatability mark) {
        scene s;
        call_options options = s.options();
        options.repeat = mark;
        const auto call = [&] {
            ++s.calls;
            return numbered_result{{number}};
        };
        const auto has_failed = [](const numbered_result& given) { return !given.has_value(); };
        (void)retry(s.strategy, options, fails_if(has_failed, call));
        return std::pair(s.calls, s.clock.elapsed() >= 30s);
    };
    using enum repeatability;
    EXPECT_EQ(attempts_of(1, repeatable).first, 1) << "no";
    EXPECT_EQ(attempts_of(2, unspecified).first, 1) << "a client's fault";
    EXPECT_EQ(attempts_of(3, not_repeatable), std::pair(5, true)) << "safe, after a wait";
    EXPECT_EQ(attempts_of(0, unspecified).first, 5) << "nothing is stated: as the predicate says";
    EXPECT_EQ(attempts_of(0, not_repeatable).first, 1);
}

TEST(fails_if, a_predicate_that_throws_ends_the_call_with_the_result) {
    scene s;
    const auto confused = [](int) -> bool { throw std::runtime_error("what is a failure?"); };
    EXPECT_EQ(retry(s.strategy, s.options(), fails_if(confused, [] { return 4; })), 4);
    EXPECT_EQ(s.trace.refusal(), refusal_reason::unsafe);
}

// It counted as a failure without facts, which a rule of one line retries: an order that had been
// placed was placed three times.
TEST(fails_if, a_predicate_that_throws_repeats_nothing_with_any_strategy) {
    scene s;
    const auto confused = [](unsigned) -> std::optional<failure_facts> { throw 1; };
    const auto order = fails_if(confused, [&s] { return static_cast<unsigned>(++s.calls); });
    for (const auto mark : {repeatability::unspecified, repeatability::repeatable}) {
        s.calls = 0;
        auto operation = order;
        call_options options = s.options();
        options.repeat = mark;
        EXPECT_EQ(retry(attempts(3), options, operation), 1U);
        EXPECT_EQ(s.calls, 1);
    }
}

TEST(fails_if, names_the_failures_of_a_class_with_a_status) {
    struct status {
        bool is_good = false;
        [[nodiscard]] bool ok() const { return is_good; }
    };
    scene s;
    const auto fetch = [&] { return status{++s.calls == 3}; };
    const auto has_failed = [](const status& given) { return !given.ok(); };
    EXPECT_TRUE(retry(s.strategy, s.options(), fails_if(has_failed, fetch)).ok());
    EXPECT_EQ(s.calls, 3);
    EXPECT_FALSE(retry(s.strategy, s.options(), throws_on_failure(fetch)).ok());
    EXPECT_EQ(s.calls, 4);
}

TEST(fails_if, exceptions_are_still_failures) {
    scene s;
    const auto throws_once = [&]() -> bool {
        if (++s.calls == 1) {
            throw std::system_error(make_error_code(std::errc::connection_refused));
        }
        return true;
    };
    EXPECT_TRUE(retry(s.strategy, s.options(), fails_if(std::logical_not<>{}, throws_once)));
    EXPECT_EQ(s.calls, 2);
}

TEST(fails_if, operations_may_be_move_only) {
    scene s;
    auto limit = std::make_unique<int>(2);
    const auto operation = [&s, limit = std::move(limit)] { return ++s.calls > *limit; };
    auto moved = fails_if(std::logical_not<>{}, [&s, limit = std::make_unique<int>(1)] {
        return ++s.calls > *limit;
    });
    EXPECT_TRUE(retry(s.strategy, s.options(), moved));
    EXPECT_EQ(s.calls, 2);
    EXPECT_TRUE(
        retry(s.strategy, s.options(), fails_if(std::logical_not<>{}, std::ref(operation))));
}

}  // namespace reprise
