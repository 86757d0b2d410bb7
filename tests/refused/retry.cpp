// Programs with the blocking loop. See check_refused.py.

#include <cstddef>
#include <cstdio>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <reprise/retry.hpp>
#include <reprise/testing/scripted.hpp>
#include <string>
#include <system_error>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

reprise::standard_strategy strategy;

struct silent_error {};
struct silent_exception {};

namespace shop {

/// An error with facts.
struct order_error {
    bool is_busy = false;
};
reprise::failure_facts retry_facts(const order_error&);

/// A tree of properties, whose elements lead back to it.
struct tree {
    using value_type = std::pair<const std::string, tree>;
    [[nodiscard]] const value_type* begin() const;
    [[nodiscard]] const value_type* end() const;
};

}  // namespace shop

template <class E>
struct outcome {
    [[nodiscard]] bool has_value() const { return true; }
    [[nodiscard]] const E& error() const { return held; }
    E held{};
};

// refused: SM_08_a_result_whose_error_has_no_facts
// message: the error in this result has no retry facts; give it (1) a function
// message: retry_facts(const E&) in its namespace, (2) a member retry_facts() const, or
// message: (3) a specialisation of reprise::failure_traits<E>
const auto result = reprise::retry(strategy, [] { return outcome<silent_error>{}; });

// refused: SM_08_a_listed_exception_without_facts
// message: this exception has no retry facts
const unsigned result =
    reprise::retry(strategy, {}, reprise::catching<silent_exception>, [] { return 1U; });

// refused: SM_08_a_bool_without_a_predicate
// message: some values of bool, optional, signed integers, enumerations and raw pointers usually
// message: mean failure; define which: reprise::fails_if(predicate, operation), or
// message: reprise::throws_on_failure(operation) if the operation fails only by throwing
const bool result = reprise::retry(strategy, [] { return true; });

// refused: SM_08_a_signed_integer_which_may_be_minus_one
// message: define which: reprise::fails_if(predicate, operation), or
// message: reprise::throws_on_failure(operation)
// errors: 1
const int result = reprise::retry(strategy, [] { return -1; });

// refused: SM_08_a_signed_size_which_may_be_minus_one
// message: define which: reprise::fails_if(predicate, operation)
const auto result = reprise::retry(strategy, [] { return std::ptrdiff_t{-1}; });

// refused: SM_08_a_plain_enumeration_such_as_the_codes_of_a_C_library
// message: define which: reprise::fails_if(predicate, operation)
enum curl_code { curl_ok, curl_could_not_connect };
const auto result = reprise::retry(strategy, [] { return curl_could_not_connect; });

// refused: SM_08_a_scoped_enumeration
// message: define which: reprise::fails_if(predicate, operation)
enum class status { ok, failed };
const auto result = reprise::retry(strategy, [] { return status::failed; });

// refused: SM_08_a_raw_pointer_which_may_be_null
// message: define which: reprise::fails_if(predicate, operation)
const auto result = reprise::retry(strategy, [] { return std::fopen("/nowhere", "r"); });

// refused: SM_08_a_one_liner_whose_operation_returns_a_pointer
// message: define which: reprise::fails_if(predicate, operation)
const auto result =
    reprise::retry(reprise::attempts(3), {}, [](const reprise::attempt&) -> int* { return {}; });

// refused: SM_08_a_statement_about_throwing_where_nothing_can_be_thrown
// flags: -fno-exceptions
// message: this result cannot report a failure
// errors: 1
const int result = reprise::retry(strategy, reprise::throws_on_failure([] { return 1; }));

// accepted: SM_08_values_of_which_some_often_mean_failure_if_the_program_defines_what_they_mean
// flags: -Wall -Wextra -Werror
enum class answer { right, wrong, unknown };
template <>
struct reprise::outcome_traits<answer> {
    static bool is_failure(answer given) noexcept { return given == answer::unknown; }
    static failure_facts facts(answer) noexcept { return {.safety = retry_safety::yes}; }
};
const auto described = reprise::retry(strategy, [] { return answer::right; });
const auto judged = reprise::retry(
    strategy, reprise::fails_if([](int count) { return count < 0; }, [] { return 1; }));
const int number = reprise::retry(strategy, reprise::throws_on_failure([] { return 1; }));
const bool flag = reprise::retry(strategy, reprise::throws_on_failure([] { return false; }));
const int* const pointer = reprise::retry(
    strategy,
    reprise::with_fallback(nullptr, reprise::throws_on_failure([]() -> const int* { return {}; })));

// refused: SM_08_an_optional_without_a_predicate
// message: define which: reprise::fails_if(predicate, operation)
const auto result = reprise::retry(strategy, [] { return std::optional<int>{}; });

// refused: SM_08_a_class_with_a_status_that_loops_do_not_read
// message: this class has a status of its own, ok() or value() and category(), which loops do
// message: not read; define when it is a failure: reprise::fails_if(predicate, operation)
// errors: 1
struct rpc_status {
    [[nodiscard]] bool ok() const { return false; }
};
const auto result = reprise::retry(strategy, [] { return rpc_status{}; });

// refused: SM_08_an_error_condition
// message: this class has a status of its own
const auto result =
    reprise::retry(reprise::attempts(3), [] { return std::error_condition(std::errc::timed_out); });

// refused: SM_08_an_error_code_in_a_pair
// message: a part of this result reports failures, such as the error code of a pair, a tuple or a
// message: vector, and no loop would see it fail; define when it is a failure: reprise::fails_if
// errors: 1
const auto result =
    reprise::retry(strategy, [] { return std::pair(std::error_code(), std::string("text")); });

// refused: SM_08_an_error_code_in_a_variant_in_a_tuple
// message: a part of this result reports failures
const auto result = reprise::retry(reprise::attempts(3), [] {
    return std::tuple<int, std::variant<std::string, std::error_code>>();
});

// refused: SM_08_an_error_condition_in_a_pair
// message: a part of this result reports failures
const auto result = reprise::retry(
    reprise::attempts(3), [] { return std::pair(std::error_condition(std::errc::timed_out), 1U); });

// refused: SM_08_an_exception_in_a_tuple
// message: a part of this result reports failures
const auto result =
    reprise::retry(reprise::attempts(3), [] { return std::tuple(std::exception_ptr(), 1U); });

// refused: SM_08_error_codes_in_a_vector
// message: a part of this result reports failures
// errors: 1
const auto result =
    reprise::retry(reprise::attempts(3), [] { return std::vector<std::error_code>(); });

// refused: SM_08_results_in_a_map
// message: a part of this result reports failures
const auto result = reprise::retry(
    reprise::attempts(3), [] { return std::map<std::string, outcome<std::error_code>>(); });

// refused: SM_08_an_error_with_facts_in_a_variant
// message: a part of this result reports failures
// errors: 1
const auto result = reprise::retry(
    reprise::attempts(3), [] { return std::variant<std::string, shop::order_error>(); });

// refused: SM_08_an_error_with_facts_in_a_pair
// message: a part of this result reports failures
const auto result = reprise::retry(
    reprise::attempts(3), [] { return std::pair(shop::order_error{}, std::string("text")); });

// refused: SM_08_an_error_with_facts_that_is_the_result
// message: this result describes failures (retry_facts, reprise::failure_traits), but nothing
// message: defines when it is one; return it as the error of something like std::expected, or
// message: define when it is a failure: a specialisation of reprise::outcome_traits, or
// message: reprise::fails_if(predicate, operation)
// errors: 1
const auto result =
    reprise::retry(reprise::attempts(3), [] { return shop::order_error{.is_busy = true}; });

// refused: SM_08_an_error_with_facts_that_is_the_result_and_that_the_strategy_names
// message: this result describes failures
const auto result = reprise::retry(
    reprise::attempts(3).on<shop::order_error>(), [] { return shop::order_error{}; });

// refused: SM_08_a_class_with_facts_that_is_the_result
// message: this result describes failures
struct answer {
    int status = 503;
    [[nodiscard]] reprise::failure_facts retry_facts() const { return {}; }
};
const auto result = reprise::retry(strategy, [] { return answer{}; });

// refused: SM_08_a_system_error_that_is_returned
// message: this result describes failures
const auto result = reprise::retry(
    strategy, [] { return std::system_error(make_error_code(std::errc::timed_out)); });

// accepted: SM_08_ranges_of_values_and_errors_with_facts_that_a_predicate_reads
// flags: -Wall -Wextra -Werror
const auto text = reprise::retry(strategy, [] { return std::string("text"); });
const auto values = reprise::retry(strategy, [] { return std::vector<int>(); });
const auto properties = reprise::retry(strategy, [] { return shop::tree(); });
const auto is_busy = [](const shop::order_error& error) { return error.is_busy; };
const auto judged =
    reprise::retry(strategy, reprise::fails_if(is_busy, [] { return shop::order_error{}; }));
const auto codes = reprise::retry(
    strategy, reprise::throws_on_failure([] { return std::vector<std::error_code>(); }));

// accepted: SM_08_pairs_and_tuples_of_values_and_those_that_a_predicate_reads
// flags: -Wall -Wextra -Werror
const auto values = reprise::retry(strategy, [] { return std::pair(1, std::string("text")); });
const auto choice = reprise::retry(strategy, [] { return std::variant<int, std::string>(1); });
const auto nothing = reprise::retry(strategy, [] { return std::tuple<>(); });
const auto judged = reprise::retry(
    strategy, reprise::fails_if(
                  [](const auto& read) { return static_cast<bool>(read.first); },
                  [] { return std::pair(std::error_code(), 1); }));
const auto thrown = reprise::retry(
    strategy, reprise::throws_on_failure([] { return std::pair(std::error_code(), 1); }));

// refused: SM_08_a_reference_that_hides_a_predicate
// message: std::ref hides what fails_if, throws_on_failure, with_fallback and hedged add to an
// message: operation; put std::ref inside: reprise::fails_if(predicate, std::ref(operation))
auto judged = reprise::fails_if([](unsigned count) { return count == 0; }, [] { return 1U; });
const unsigned result = reprise::retry(strategy, std::ref(judged));

// refused: SM_08_a_fallback_around_a_reference_that_hides_a_predicate
// message: std::ref hides what fails_if
auto judged = reprise::fails_if([](unsigned count) { return count == 0; }, [] { return 1U; });
const unsigned result = reprise::retry(strategy, reprise::with_fallback(2U, std::ref(judged)));

// refused: SM_08_an_error_enumeration_without_a_predicate
// message: define which: reprise::fails_if(predicate, operation)
const auto result = reprise::retry(strategy, [] { return std::errc::timed_out; });

// refused: SM_08_a_predicate_that_does_not_fit_the_result
// message: the predicate takes the operation's result and returns bool
const auto result =
    reprise::retry(strategy, reprise::fails_if([](std::string) { return true; }, [] { return 1; }));

// refused: SM_08_a_plain_value_where_nothing_can_be_thrown
// flags: -fno-exceptions
// message: this result cannot report a failure; return something like std::expected or
// message: std::error_code, or use reprise::fails_if(predicate, operation)
const unsigned result = reprise::retry(strategy, [] { return 1U; });

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

// accepted: SM_08_class_types_numbers_without_a_sign_and_real_numbers_which_fail_by_throwing
// flags: -Wall -Wextra -Werror
const std::size_t count = reprise::retry(strategy, [] { return std::size_t{1}; });
const double price = reprise::retry(strategy, [] { return 1.5; });
const char letter = reprise::retry(strategy, [] { return 'a'; });
const wchar_t wide = reprise::retry(strategy, [] { return L'a'; });
const std::byte byte = reprise::retry(strategy, [] { return std::byte{1}; });
const std::string text = reprise::retry(strategy, [] { return std::string("text"); });
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
    static_cast<void>(reprise::retry(reprise::attempts(3), [](std::string) { return 1U; }));
}

// refused: a_hedged_operation_in_a_loop_that_blocks
// message: a hedged operation needs a loop that can run two attempts: reprise::async_retry
struct hedged_read {
    unsigned operator()() const { return 1; }
    int hedging() const { return 0; }  // As `reprise::hedged` returns it.
};
void run() {
    static_cast<void>(reprise::retry(reprise::attempts(3), hedged_read{}));
}

// refused: a_strategy_with_a_memory_as_a_temporary
// message: this strategy is shared by all calls of a client: give it a name and keep it
void run() {
    static_cast<void>(reprise::retry(reprise::standard_strategy(), [] { return 1U; }));
}

// refused: something_that_is_no_strategy
// message: this is no retry strategy: start with reprise::attempts(3)
void run() {
    static_cast<void>(reprise::retry(3, [] { return 1U; }));
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

// refused: SM_08_a_future_whose_failure_comes_later
// message: this result is work that has not ended, such as a future or a coroutine, and no loop
// message: would see it fail; wait for it inside the operation (coroutines: reprise::async_retry)
// errors: 1
const auto result =
    reprise::retry(strategy, [] { return std::async([] { throw silent_exception{}; }); });

// refused: SM_08_a_result_whose_value_is_a_result
// message: the value of this result is a result itself, and no loop would see it fail; return one
// message: of them, or define when it is a failure: reprise::fails_if(predicate, operation)
// errors: 1
struct outer_result : outcome<std::error_code> {
    const std::error_code& operator*() const { return held; }
};
const auto result = reprise::retry(strategy, [] { return outer_result{}; });

// accepted: a_result_without_a_value
// flags: -std=c++23 -Wall -Wextra -Werror
#include <expected>
const auto result =
    reprise::retry(strategy, []() -> std::expected<void, std::error_code> { return {}; });

// refused: a_predicate_of_a_predicate
// message: this operation has a predicate already, which a second fails_if would replace
const auto is_busy = [](int status) { return status == 503; };
const auto is_lost = [](int status) { return status == 0; };
const auto operation = reprise::fails_if(
    is_busy, reprise::with_fallback(1, reprise::fails_if(is_lost, [] { return 200; })));

// refused: a_statement_about_an_operation_with_a_predicate
// message: this operation has a predicate (fails_if), which throws_on_failure would contradict
// errors: 1
const auto is_busy = [](int status) { return status == 503; };
const auto operation = reprise::throws_on_failure(reprise::fails_if(is_busy, [] { return 200; }));

// refused: a_predicate_that_makes_facts_of_every_result
// message: std::optional<reprise::failure_facts> (std::nullopt: a success)
const auto facts = [](unsigned status) { return reprise::http_facts(status); };
const auto result = reprise::retry(strategy, reprise::fails_if(facts, [] { return 200U; }));

// refused: a_predicate_of_an_operation_that_states_to_fail_only_by_throwing
// message: this operation states that none of its values is a failure, as throws_on_failure and
// message: transactions do; remove fails_if, and throw where it fails
// errors: 1
const auto is_busy = [](int status) { return status == 503; };
const auto operation = reprise::fails_if(
    is_busy, reprise::with_fallback(1, reprise::throws_on_failure([] { return 200; })));

// refused: a_predicate_of_a_reference_to_an_operation_that_states_to_fail_only_by_throwing
// message: this operation states that none of its values is a failure
// errors: 1
struct transaction {
    static constexpr bool fails_only_by_throwing = true;
    int operator()() const { return 200; }
} commit;
const auto is_busy = [](int status) { return status == 503; };
const auto operation = reprise::fails_if(is_busy, std::ref(commit));

// accepted: a_reference_to_an_operation_that_states_to_fail_only_by_throwing
struct transaction {
    static constexpr bool fails_only_by_throwing = true;
    int operator()() const { return 200; }
} commit;
const int result = reprise::retry(strategy, std::ref(commit));

// refused: a_fallback_of_a_fallback
// message: this operation has a fallback already, which a second with_fallback would replace
const auto operation = reprise::with_fallback(1U, reprise::with_fallback(2U, [] { return 200U; }));

// refused: a_predicate_on_an_error_that_the_result_never_has
// message: the strategy's when(predicate) or on<E>() names an error type that this result
// message: cannot have: name the error of the result, or an exception
const auto result = reprise::retry(
    reprise::attempts(3).when([](const silent_exception&) { return true; }),
    [] { return outcome<silent_error>{}; });

// refused: a_predicate_on_the_error_of_a_result_that_another_predicate_judges
// message: fails_if lets it see the
const auto result = reprise::retry(
    reprise::attempts(3).when([](const silent_error&) { return true; }),
    reprise::fails_if(
        [](const outcome<silent_error>& given) { return !given.has_value(); },
        [] { return outcome<silent_error>{}; }));

// refused: a_base_class_of_the_error_that_a_result_has
// message: names an error type that this result cannot have
#include <stdexcept>
struct lost_order : std::runtime_error {
    lost_order() : std::runtime_error("lost") {}
};
const auto result = reprise::retry(
    reprise::attempts(3).on<std::runtime_error>(), [] { return outcome<lost_order>{}; });

// refused: traits_whose_failure_is_a_copy
// message: outcome_traits<R>::failure must return a reference to a part of the result
struct receipt {
    shop::order_error error;
};
template <>
struct reprise::outcome_traits<receipt> {
    static bool is_failure(const receipt&) noexcept { return true; }
    static reprise::failure_facts facts(const receipt&) noexcept { return {}; }
    static shop::order_error failure(const receipt& from) noexcept { return from.error; }
};
const auto result = reprise::retry(strategy, [] { return receipt{}; });

// refused: a_list_of_errors_that_the_result_never_has
// message: names an error type that this result cannot have
const auto result = reprise::retry(
    reprise::attempts(3).on<silent_exception>(), [] { return outcome<silent_error>{}; });

// refused: a_result_with_an_error_code_in_its_value
// flags: -std=c++23
// message: the value of this result is a result itself
#include <expected>
#include <utility>
const auto result = reprise::retry(
    strategy, []() -> std::expected<std::pair<std::error_code, int>, std::error_code> {
        return std::pair{std::error_code(), 1};
    });
