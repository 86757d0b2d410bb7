#pragma once

/// Which failures a one-line strategy retries: all of them, those of some types, or those for which
/// a predicate is true. The errors need no facts and know nothing of this library.

#include <concepts>
#include <system_error>
#include <type_traits>
#include <utility>

#include <reprise/retry/detail/no_throw.hpp>
#include <reprise/retry/retryable.hpp>

namespace reprise {

namespace detail {

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

/// Calls `visit(const E&)` if the failure is an `E`; false if it is not.
template <class E, class Visit>
[[nodiscard]] bool visit_failure(const retry_question& question, const Visit& visit) {
    if constexpr (std::same_as<E, retry_question>) {
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
            return thrown != nullptr && visit(thrown->code());
        }
        return false;
    }
}

}  // namespace detail

/// The selection of a strategy without a predicate. It follows the facts that a failure has, and
/// retries failures without facts.
struct every_failure {};

/// Failures that are an `E` for which the predicate is true.
template <class E, class Predicate>
struct failure_predicate {
    [[no_unique_address]] Predicate predicate;

    [[nodiscard]] bool matches(const retry_question& question) const {
        return detail::visit_failure<E>(
            question, [&](const E& error) -> bool { return predicate(error); });
    }
};

/// Failures that are one of `E...`.
template <class... E>
struct failure_types {
    [[nodiscard]] bool matches(const retry_question& question) const {
        return (detail::visit_failure<E>(question, [](const E&) { return true; }) || ...);
    }
};

/// Failures that one of two selections matches.
template <class First, class Second>
struct either_selection {
    [[no_unique_address]] First first;
    [[no_unique_address]] Second second;

    [[nodiscard]] bool matches(const retry_question& question) const {
        return first.matches(question) || second.matches(question);
    }
};

namespace detail {

template <class Second>
[[nodiscard]] Second either(every_failure, Second second) {
    return second;
}
template <class First, class Second>
[[nodiscard]] either_selection<First, Second> either(First first, Second second) {
    return {std::move(first), std::move(second)};
}

}  // namespace detail

/// The first question of a composed strategy, answered by a selection.
template <class Selection>
struct selected_failures {
    [[no_unique_address]] Selection selection;

    [[nodiscard]] refusal_reason check(const retry_question& question) const noexcept {
        failure_facts facts = question.facts;
        if constexpr (std::same_as<Selection, every_failure>) {
            if (!facts.safety && facts.fault != failure_fault::client) {
                facts.safety = retry_safety::maybe;
            }
        } else {
            const bool is_selected =
                detail::result_or(false, [&] { return selection.matches(question); });
            if (!is_selected) {
                return refusal_reason::predicate_refused;
            }
            if (facts.safety != retry_safety::yes) {
                facts.safety = retry_safety::maybe;
            }
        }
        return stated_safety{}.check(facts, question.repeat);
    }
};

}  // namespace reprise
