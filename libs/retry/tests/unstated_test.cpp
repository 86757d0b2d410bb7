#include <gtest/gtest.h>

#include <any>
#include <functional>
#include <future>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <typeinfo>
#include <variant>
#include <vector>

#include <reprise/retry.hpp>
#include <reprise/testing/scripted.hpp>
#include <reprise/testing/virtual_clock.hpp>

// Tests failures without stated facts, and calls that do not state whether they may be repeated.
// One rule for all strategies; they differ in two options.
namespace reprise::unstated_test {

using namespace std::chrono_literals;

struct bench {
    testing::virtual_clock clock;
    retry_history trace;

    template <class Strategy, class Error>
    [[nodiscard]] int throwing(Strategy&& strategy, const Error& error, repeatability repeat = {}) {
        int calls = 0;
        const call_options options{.repeat = repeat, .history = &trace, .clock = &clock};
        try {
            retry(std::forward<Strategy>(strategy), options, [&] {
                ++calls;
                throw error;
            });
        } catch (const Error&) {
            return calls;
        }
        ADD_FAILURE() << "the operation's own error was lost";
        return calls;
    }
    template <class Strategy>
    [[nodiscard]] std::size_t failing(
        Strategy&& strategy, const failure_facts& facts, repeatability repeat) {
        auto operation = testing::scripted_operation{facts}.fail_forever();
        const call_options options{.repeat = repeat, .history = &trace, .clock = &clock};
        EXPECT_FALSE(
            retry(std::forward<Strategy>(strategy), options, std::ref(operation)).has_value());
        return operation.calls();
    }
};

[[nodiscard]] standard_strategy::options with(const driver::safety_options& safety) {
    return {.attempts_max = 3, .safety = safety};
}

// Once, a program that moved from `attempts(3)` to the recommended strategy silently lost all its
// retries.
TEST(unstated, SM_10_failures_without_facts_follow_one_option_that_both_strategies_have) {
    bench b;
    const std::runtime_error unknown("unknown");
    standard_strategy refusing(with({}));
    standard_strategy retrying(with({.failures_without_facts = when_unstated::retry}));
    EXPECT_EQ(b.throwing(attempts(3), unknown), 3);
    EXPECT_EQ(b.throwing(retrying, unknown), 3);
    EXPECT_EQ(b.throwing(refusing, unknown), 1);
    EXPECT_EQ(b.trace.refusal(), refusal_reason::unclassified);
    EXPECT_EQ(b.throwing(attempts(3).failures_without_facts(when_unstated::refuse), unknown), 1);
    EXPECT_EQ(b.trace.refusal(), refusal_reason::unclassified);
    EXPECT_EQ(b.throwing(retrying, unknown, repeatability::not_repeatable), 1) << "as `maybe`";
    EXPECT_EQ(b.trace.refusal(), refusal_reason::not_repeatable);
}

TEST(unstated, SM_05_a_refusal_for_lack_of_facts_names_the_remedy) {
    bench b;
    standard_strategy refusing(with({}));
    EXPECT_EQ(b.throwing(refusing, std::runtime_error("unknown")), 1);
    EXPECT_EQ(
        to_string(b.trace),
        "+0 ms  attempt 1 failed, unknown; not retried: cannot be classified (give its type "
        "retry_facts(), "
        "or set failures_without_facts to retry)\n");
    EXPECT_EQ(b.throwing(attempts(3), std::logic_error("wrong")), 1);
    EXPECT_EQ(
        to_string(b.trace),
        "+0 ms  attempt 1 failed, wrong; not retried: programming error (to retry it, name it: "
        "on<std::logic_error>())\n");
    const auto marked_only = attempts(3).unmarked_calls(when_unstated::refuse);
    EXPECT_EQ(b.failing(marked_only, testing::timed_out(), repeatability::unspecified), 1U);
    EXPECT_EQ(
        to_string(b.trace),
        "+0 ms  attempt 1 failed, timeout; not retried: call is not marked as repeatable (mark the "
        "call: call_options::repeat)\n");
}

TEST(unstated, SM_05_the_log_line_of_such_a_refusal_names_the_remedy_too) {
    bench b;
    std::vector<std::string> lines;
    const auto logger = log_to([&](std::string_view line) { lines.emplace_back(line); });
    standard_strategy refusing({.observer = logger});
    EXPECT_EQ(b.throwing(refusing, std::runtime_error("unknown")), 1);
    EXPECT_EQ(b.throwing(attempts(3).observer(logger), std::logic_error("wrong")), 1);
    EXPECT_EQ(
        lines, (std::vector<std::string>{
                   "retry: attempt 1 failed, unknown; not retried: cannot be classified (give its "
                   "type retry_facts(), or set failures_without_facts to retry)",
                   "retry: attempt 1 failed, wrong; not retried: programming error (to retry it, "
                   "name it: on<std::logic_error>())"}));
}

TEST(unstated, SM_10_programming_errors_are_retried_only_if_they_are_named) {
    bench b;
    standard_strategy retrying(with({.failures_without_facts = when_unstated::retry}));
    const auto calls_for = [&](const auto& error) {
        const int unnamed = b.throwing(attempts(3), error);
        EXPECT_EQ(b.trace.refusal(), refusal_reason::programming_error);
        EXPECT_EQ(b.throwing(retrying, error), unnamed);
        const auto all = attempts(3).when([](const failure_facts&) { return true; });
        EXPECT_EQ(b.throwing(all, error), unnamed) << "a filter narrows";
        using type = std::remove_cvref_t<decltype(error)>;
        EXPECT_EQ(b.throwing(attempts(3).on<type>(), error), 3);
        const auto predicate = attempts(3).when([](const type&) { return true; });
        EXPECT_EQ(b.throwing(predicate.template on<int>(), error), 3);
        return unnamed;
    };
    EXPECT_EQ(calls_for(std::logic_error("")), 1);
    EXPECT_EQ(calls_for(std::invalid_argument("")), 1);
    EXPECT_EQ(calls_for(std::future_error(std::future_errc::no_state)), 1);
    EXPECT_EQ(calls_for(std::bad_alloc()), 1);
    EXPECT_EQ(calls_for(std::bad_cast()), 1);
    EXPECT_EQ(calls_for(std::bad_any_cast()), 1);
    EXPECT_EQ(calls_for(std::bad_typeid()), 1);
    EXPECT_EQ(calls_for(std::bad_exception()), 1);
    EXPECT_EQ(calls_for(std::bad_function_call()), 1);
    EXPECT_EQ(calls_for(std::bad_optional_access()), 1);
    EXPECT_EQ(calls_for(std::bad_variant_access()), 1);
    EXPECT_EQ(calls_for(std::bad_weak_ptr()), 1);
    EXPECT_EQ(b.throwing(attempts(3).on<std::logic_error>(), std::out_of_range("")), 3);
    EXPECT_EQ(b.throwing(attempts(3).on<std::exception>(), std::out_of_range("")), 1)
        << "`std::exception` names everything, and so nothing";
    EXPECT_EQ(
        b.throwing(
            attempts(3).on<std::logic_error>(), std::logic_error(""),
            repeatability::not_repeatable),
        1);
}

/// A `std::logic_error` that describes itself is no unknown failure.
struct busy_error : std::logic_error, failure_description {
    busy_error() : std::logic_error("busy") {}
    [[nodiscard]] failure_facts retry_facts() const noexcept override {
        return {.safety = retry_safety::yes};
    }
};

TEST(unstated, a_programming_error_with_facts_follows_its_facts) {
    bench b;
    EXPECT_EQ(b.throwing(attempts(3), busy_error()), 3);
    standard_strategy standard(with({}));
    EXPECT_EQ(b.throwing(standard, busy_error()), 3);
}

// The table of docs/guide/idempotency.md, for both strategies and both options.
TEST(unstated, SM_10_an_unmarked_call_is_retried_after_maybe_unless_the_strategy_refuses) {
    struct row {
        failure_facts facts;
        std::size_t repeatable;
        std::size_t unmarked;
        std::size_t unmarked_if_refused;
        std::size_t not_repeatable;
    };
    const row rows[] = {
        {{.safety = retry_safety::yes}, 3, 3, 3, 3},
        {{.safety = retry_safety::maybe}, 3, 3, 1, 1},
        {{.fault = failure_fault::server}, 3, 3, 1, 1},
        {{.safety = retry_safety::no}, 1, 1, 1, 1},
        {{.fault = failure_fault::client}, 1, 1, 1, 1},
    };
    bench b;
    const auto check = [&](auto& retrying, auto& refusing, const row& each) {
        EXPECT_EQ(b.failing(retrying, each.facts, repeatability::repeatable), each.repeatable);
        EXPECT_EQ(b.failing(refusing, each.facts, repeatability::repeatable), each.repeatable);
        EXPECT_EQ(b.failing(retrying, each.facts, repeatability::unspecified), each.unmarked);
        EXPECT_EQ(
            b.failing(refusing, each.facts, repeatability::unspecified), each.unmarked_if_refused);
        EXPECT_EQ(
            b.failing(retrying, each.facts, repeatability::not_repeatable), each.not_repeatable);
        EXPECT_EQ(
            b.failing(refusing, each.facts, repeatability::not_repeatable), each.not_repeatable);
    };
    const driver::safety_options refuse{.unmarked_calls = when_unstated::refuse};
    for (const row& each : rows) {
        SCOPED_TRACE(&each - rows);
        standard_strategy standard(with({}));
        standard_strategy strict(with(refuse));
        check(standard, strict, each);
        auto simple = attempts(3);
        auto strict_simple = attempts(3).unmarked_calls(when_unstated::refuse);
        check(simple, strict_simple, each);
    }
}

TEST(unstated, options_survive_whatever_is_added_to_a_one_liner_afterwards) {
    bench b;
    const auto rule = attempts(3)
                          .failures_without_facts(when_unstated::refuse)
                          .unmarked_calls(when_unstated::refuse)
                          .every(1ms)
                          .on<std::runtime_error>()
                          .on<testing::scripted_error>()
                          .budget(std::make_shared<token_bucket>())
                          .on_completion([](const call_summary&) {});
    EXPECT_EQ(b.throwing(rule, std::runtime_error("unknown")), 1);
    EXPECT_EQ(b.trace.refusal(), refusal_reason::unclassified);
    EXPECT_EQ(b.failing(rule, testing::timed_out(), repeatability::unspecified), 1U);
    EXPECT_EQ(b.trace.refusal(), refusal_reason::unmarked_call);
}

}  // namespace reprise::unstated_test
