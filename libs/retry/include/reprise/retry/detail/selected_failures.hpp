#pragma once

/// Which failures a one-line strategy retries: all of them, those of some types, or those for which
/// a predicate is true. The errors need no facts.
///
/// A selection narrows: of the failures that the rule of `retryable.hpp` allows to be retried, it
/// keeps some. It never allows what the failure itself forbids.

#include <concepts>
#include <exception>
#include <optional>
#include <system_error>
#include <type_traits>
#include <utility>

#include <reprise/retry/detail/compiler.hpp>
#include <reprise/retry/retryable.hpp>

namespace reprise::detail {

/// `E` of a callable that takes one `E`, by value or by reference.
template <class Function>
struct function_argument;
template <class Result, class E>
struct function_argument<Result (*)(E)> : std::type_identity<std::remove_cvref_t<E>> {};
template <class Result, class E>
struct function_argument<Result (*)(E) noexcept> : std::type_identity<std::remove_cvref_t<E>> {};
template <class Class, class Result, class E>
struct function_argument<Result (Class::*)(E)> : std::type_identity<std::remove_cvref_t<E>> {};
template <class Class, class Result, class E>
struct function_argument<Result (Class::*)(E) const> : std::type_identity<std::remove_cvref_t<E>> {
};
template <class Class, class Result, class E>
struct function_argument<Result (Class::*)(E) noexcept>
    : std::type_identity<std::remove_cvref_t<E>> {};
template <class Class, class Result, class E>
struct function_argument<Result (Class::*)(E) const noexcept>
    : std::type_identity<std::remove_cvref_t<E>> {};

template <class Predicate>
struct predicate_argument_of : function_argument<Predicate> {};
template <class Predicate>
    requires requires { &Predicate::operator(); }
struct predicate_argument_of<Predicate> : function_argument<decltype(&Predicate::operator())> {};

template <class Predicate>
using predicate_argument = typename predicate_argument_of<Predicate>::type;
template <class Predicate>
concept has_predicate_argument = requires { typename predicate_argument<Predicate>; };

inline namespace REPRISE_VARIANT {

/// Calls `visit(const E&)` if the failure is an `E`; false if it is not.
template <class E, class Visit>
[[nodiscard]] bool visit_failure(const driver::retry_question& question, const Visit& visit) {
    if constexpr (std::same_as<E, driver::retry_question>) {
        return visit(question);
    } else if constexpr (std::same_as<E, failure_facts>) {
        return visit(question.facts);
    } else if constexpr (std::same_as<E, failure_view>) {
        return visit(question.failure);
    } else {
        if (const E* const error = question.failure.get_if<E>(); error != nullptr) {
            return visit(*error);
        }
        if constexpr (std::same_as<E, std::error_code>) {
            const auto* const thrown = question.failure.get_if<std::system_error>();
            if (thrown != nullptr) {
                return visit(thrown->code());
            }
            const failure_facts& facts = question.facts;  // Boost's codes, those of adapters
            return facts.category != nullptr &&
                   visit(std::error_code(static_cast<int>(facts.code), *facts.category));
        }
        return false;
    }
}

/// The facts of an `E` that is not in the list of `catching`.
template <class E>
[[nodiscard]] std::optional<failure_facts> facts_as(const driver::retry_question& question) {
    std::optional<failure_facts> found;
    if constexpr (describes_failure<E>) {
        if (const E* const error = question.failure.get_if<E>(); error != nullptr) {
            found = facts_of(*error);
        }
    }
    return found;
}

}  // namespace REPRISE_VARIANT

inline namespace REPRISE_VARIANT {

/// Whether a failed operation can ever be an `E`, if its result has errors of type `Error`: the
/// error itself, an exception, or what every failure has. Whatever else is thrown is rare enough to
/// be named with `on` and a base class.
template <class E, class Error>
inline constexpr bool can_be =
    std::same_as<E, Error> || std::same_as<E, driver::retry_question> ||
    std::same_as<E, failure_facts> || std::same_as<E, failure_view> ||
    std::same_as<E, std::error_code> || std::is_base_of_v<std::exception, E> ||
    std::is_polymorphic_v<E> || std::same_as<Error, std::exception_ptr>;

/// The selection of a strategy without a predicate.
struct every_failure {
    template <class>
    static constexpr bool can_match = true;

    [[nodiscard]] bool matches(const driver::retry_question&) const noexcept { return true; }
    [[nodiscard]] std::optional<failure_facts> own_facts(
        const driver::retry_question&) const noexcept {
        return std::nullopt;
    }
    [[nodiscard]] bool names_programming_error(const driver::retry_question&) const noexcept {
        return false;
    }
};

/// Failures that are an `E` for which the predicate is true.
template <class E, class Predicate>
struct failure_predicate {
    template <class Error>
    static constexpr bool can_match = can_be<E, Error>;

    [[no_unique_address]] Predicate predicate;

    [[nodiscard]] bool matches(const driver::retry_question& question) const {
        return visit_failure<E>(question, [&](const E& error) -> bool { return predicate(error); });
    }
    /// The facts of a failure that is one of the named types.
    [[nodiscard]] std::optional<failure_facts> own_facts(
        const driver::retry_question& question) const {
        return facts_as<E>(question);
    }
    /// Of a programming error that `matches`: it was selected as what it is.
    [[nodiscard]] bool names_programming_error(const driver::retry_question& question) const {
        return programming_error<E> && matches(question);
    }
};

/// Failures that are one of `E...`.
template <class... E>
struct failure_types {
    template <class Error>
    static constexpr bool can_match = (can_be<E, Error> && ...);

    [[nodiscard]] bool matches(const driver::retry_question& question) const {
        return (visit_failure<E>(question, [](const E&) { return true; }) || ...);
    }
    [[nodiscard]] std::optional<failure_facts> own_facts(
        const driver::retry_question& question) const {
        std::optional<failure_facts> found;
        static_cast<void>(((found = facts_as<E>(question)).has_value() || ...));
        return found;
    }
    [[nodiscard]] bool names_programming_error(const driver::retry_question& question) const {
        return (
            (programming_error<E> && visit_failure<E>(question, [](const E&) { return true; })) ||
            ...);
    }
};

/// Failures that one of two selections matches.
template <class First, class Second>
struct either_selection {
    template <class Error>
    static constexpr bool can_match =
        First::template can_match<Error> && Second::template can_match<Error>;

    [[no_unique_address]] First first;
    [[no_unique_address]] Second second;

    [[nodiscard]] bool matches(const driver::retry_question& question) const {
        return first.matches(question) || second.matches(question);
    }
    [[nodiscard]] std::optional<failure_facts> own_facts(
        const driver::retry_question& question) const {
        const std::optional<failure_facts> found = first.own_facts(question);
        return found ? found : second.own_facts(question);
    }
    [[nodiscard]] bool names_programming_error(const driver::retry_question& question) const {
        return first.names_programming_error(question) || second.names_programming_error(question);
    }
};

}  // namespace REPRISE_VARIANT

template <class Second>
[[nodiscard]] Second either(every_failure, Second second) {
    return second;
}
template <class First, class Second>
[[nodiscard]] either_selection<First, Second> either(First first, Second second) {
    return {std::move(first), std::move(second)};
}

inline namespace REPRISE_VARIANT {

/// The first question of a composed strategy: the selection, then the rule.
template <class Selection>
struct selected_failures {
    [[no_unique_address]] Selection selection{};
    stated_safety safety{{.failures_without_facts = when_unstated::retry}};

    [[nodiscard]] refusal_reason check(const driver::retry_question& question) const noexcept {
        if (!result_or(false, [&] { return selection.matches(question); })) {
            return refusal_reason::predicate_refused;
        }
        const refusal_reason refusal = safety.check(question);
        if (refusal == refusal_reason::none && !states_anything(question.facts)) {
            return check_own_facts(question);
        }
        const bool is_named = refusal == refusal_reason::programming_error && result_or(false, [&] {
                                  return selection.names_programming_error(question);
                              });
        return is_named ? refusal_reason::none : refusal;
    }

private:
    /// A type that the strategy names, but not the loop, may forbid the retry all the same.
    [[nodiscard]] refusal_reason check_own_facts(
        const driver::retry_question& question) const noexcept {
        using facts = std::optional<failure_facts>;
        const facts own = result_or(facts{}, [&] { return selection.own_facts(question); });
        return own ? safety.check(*own, question.repeat) : refusal_reason::none;
    }
};

}  // namespace REPRISE_VARIANT

}  // namespace reprise::detail
