// Programs with the blocking loop. See check_refused.py.

#include <memory>
#include <optional>
#include <reprise/retry.hpp>
#include <reprise/testing/scripted.hpp>
#include <string>

reprise::standard_strategy strategy;

struct silent_error {};
struct silent_exception {};

template <class E>
struct outcome {
    [[nodiscard]] bool has_value() const { return true; }
    [[nodiscard]] const E& error() const { return held; }
    E held{};
};

// refused: SM_08_a_result_whose_error_says_nothing_about_retries
// message: the error in this result says nothing about retries; give it (1) a function
// message: retry_facts(const E&) beside it, (2) a member retry_facts() const, or
// message: (3) a specialisation of reprise::failure_traits<E>
const auto result = reprise::retry(strategy, [] { return outcome<silent_error>{}; });

// refused: SM_08_a_listed_exception_that_says_nothing_about_retries
// message: this exception says nothing about retries
const int result =
    reprise::retry(strategy, {}, reprise::catching<silent_exception>, [] { return 1; });

// refused: SM_08_a_bool_without_a_predicate
// message: bool, optional and error enumerations do not say which values are failures; say it:
// message: reprise::fails_if(predicate, operation)
const bool result = reprise::retry(strategy, [] { return true; });

// refused: SM_08_an_optional_without_a_predicate
// message: say it: reprise::fails_if(predicate, operation)
const auto result = reprise::retry(strategy, [] { return std::optional<int>{}; });

// refused: SM_08_an_error_enumeration_without_a_predicate
// message: say it: reprise::fails_if(predicate, operation)
const auto result = reprise::retry(strategy, [] { return std::errc::timed_out; });

// refused: SM_08_a_predicate_that_does_not_fit_the_result
// message: the predicate takes the operation's result and returns bool
const auto result =
    reprise::retry(strategy, reprise::fails_if([](std::string) { return true; }, [] { return 1; }));

// refused: SM_08_a_plain_value_where_nothing_can_be_thrown
// flags: -fno-exceptions
// message: this result cannot report a failure; return something like std::expected or
// message: std::error_code, or use reprise::fails_if(predicate, operation)
const int result = reprise::retry(strategy, [] { return 1; });

// refused: SM_08_no_value_at_all_where_nothing_can_be_thrown
// flags: -fno-exceptions
// message: this result cannot report a failure
void run() {
    reprise::retry(strategy, [] {});
}

// accepted: SM_08_results_that_report_failures_also_where_nothing_can_be_thrown
// flags: -fno-exceptions -Wall -Wextra -Werror
const std::error_code code = reprise::retry(strategy, [] { return std::error_code{}; });
const auto scripted = reprise::retry(strategy, reprise::testing::scripted_operation{});
const bool judged =
    reprise::retry(strategy, reprise::fails_if(std::logical_not<>{}, [] { return true; }));

// accepted: SM_08_plain_values_and_pointers_which_fail_by_throwing
// flags: -Wall -Wextra -Werror
const int number = reprise::retry(strategy, [] { return 1; });
const auto pointer = reprise::retry(strategy, [] { return std::make_unique<int>(1); });
void run() {
    reprise::retry(strategy, [] {});
}

// accepted: SM_02_failures_are_seen_without_run_time_type_information
// flags: -fno-rtti -Wall -Wextra -Werror
const int* number(const reprise::failure_view& failure) {
    return failure.get_if<int>();
}

// refused: a_result_that_is_dropped
// flags: -Werror=unused-result
// message: ignoring return value
void run() {
    reprise::retry(strategy, [] { return std::error_code{}; });
}

// refused: a_generic_predicate_without_the_type_of_its_error
// message: the predicate takes one error, whose type must be known
const auto rule = reprise::attempts(3).when([](const auto&) { return true; });

// refused: an_operation_that_needs_other_arguments
// message: the operation must be callable with a const reprise::attempt& or with nothing
void run() {
    static_cast<void>(reprise::retry(reprise::attempts(3), [](std::string) { return 1; }));
}

// refused: a_hedged_operation_in_a_loop_that_blocks
// message: a hedged operation needs a loop that can run two attempts: reprise::async_retry
struct hedged_read {
    int operator()() const { return 1; }
    int hedging() const { return 0; }  // As `reprise::hedged` returns it.
};
void run() {
    static_cast<void>(reprise::retry(reprise::attempts(3), hedged_read{}));
}

// refused: a_strategy_with_a_memory_as_a_temporary
// message: this strategy is shared by all calls of a client: give it a name and keep it
void run() {
    static_cast<void>(reprise::retry(reprise::standard_strategy(), [] { return 1; }));
}

// refused: something_that_is_no_strategy
// message: this is no retry strategy: start with reprise::attempts(3)
void run() {
    static_cast<void>(reprise::retry(3, [] { return 1; }));
}

// refused: a_result_that_is_ignored
// flags: -Wall -Werror
// message: ignoring return value
void run() {
    reprise::retry(reprise::attempts(3), [] { return std::error_code{}; });
}

// accepted: one_liners_for_errors_without_facts
// flags: -Wall -Wextra -Werror
const auto result = reprise::retry(
    reprise::attempts(3).when([](const silent_error&) { return true; }),
    [] { return outcome<silent_error>{}; });
