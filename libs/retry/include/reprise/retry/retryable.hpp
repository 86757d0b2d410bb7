#pragma once

/// The first question of every strategy: does this failure allow a retry at all? This is the only
/// implementation of the rule; docs/guide/idempotency.md has it as a table.

#include <concepts>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <typeinfo>
#include <variant>

#include <reprise/retry/detail/compiler.hpp>
#include <reprise/retry/driver/retry_question.hpp>
#include <reprise/retry/refusal_reason.hpp>
#include <reprise/retry/retry_errc.hpp>

namespace reprise {

/// A strategy's behaviour where nothing was stated.
enum class when_unstated : std::uint8_t {
    retry,
    refuse,
};

/// The two questions that the rule leaves to the strategy.
struct safety_options {
    /// Failures that state neither a safety nor whose fault they are: an exception that the library
    /// cannot classify, an unknown error code. `retry` treats them as `retry_safety::maybe`, except
    /// for programming errors such as `std::logic_error` and `std::bad_alloc`.
    when_unstated failures_without_facts = when_unstated::refuse;
    /// Calls that do not state whether they may be executed twice, after a failure of safety
    /// `maybe`. `refuse` treats them as `repeatability::not_repeatable`.
    when_unstated unmarked_calls = when_unstated::retry;
};

namespace detail {

/// Exceptions that report a mistake in the program or a lack of memory. Trying again does not help.
template <class E>
concept programming_error =
    std::derived_from<E, std::logic_error> || std::derived_from<E, invalid_settings> ||
    std::derived_from<E, std::bad_alloc> || std::derived_from<E, std::bad_cast> ||
    std::derived_from<E, std::bad_typeid> || std::derived_from<E, std::bad_exception> ||
    std::derived_from<E, std::bad_function_call> ||
    std::derived_from<E, std::bad_optional_access> ||
    std::derived_from<E, std::bad_variant_access> || std::derived_from<E, std::bad_weak_ptr>;

/// True for a thrown exception of such a type.
[[nodiscard]] REPRISE_EXPORT bool is_programming_error(const failure_view& failure) noexcept;

/// True if the failure states a safety, or a fault that decides instead.
[[nodiscard]] constexpr bool states_anything(const failure_facts& facts) noexcept {
    return facts.safety.has_value() || facts.fault == failure_fault::client ||
           facts.fault == failure_fault::server;
}

/// True if no strategy may retry the failure, whatever the call is marked as.
[[nodiscard]] constexpr bool forbids_retry(const failure_facts& facts) noexcept {
    return facts.safety == retry_safety::no ||
           (!facts.safety && facts.fault == failure_fault::client);
}

}  // namespace detail

/// Stated safety beats fault. `no` is never retried; `yes` may be; `maybe` may be unless the call
/// is marked as not repeatable. Without retry information a server's fault is retried and a
/// client's is not. The options decide where nothing is stated.
struct stated_safety {
    safety_options options{};

    /// By the facts alone.
    [[nodiscard]] constexpr refusal_reason check(
        const failure_facts& facts, repeatability repeat) const noexcept {
        if (facts.safety) {
            switch (*facts.safety) {
                case retry_safety::yes:
                    return refusal_reason::none;
                case retry_safety::maybe:
                    return check_mark(repeat);
                case retry_safety::no:
                    return refusal_reason::unsafe;
            }
            return refusal_reason::unsafe;  // A value outside the enumeration: not trusted.
        }
        if (facts.fault == failure_fault::server) {
            return check_mark(repeat);  // The server may have acted before it failed: as `maybe`.
        }
        if (facts.fault == failure_fault::client) {
            return refusal_reason::client_fault;
        }
        return options.failures_without_facts == when_unstated::retry
                   ? check_mark(repeat)
                   : refusal_reason::unclassified;
    }

    /// Also looks at the failure itself: without facts, programming errors are not retried.
    [[nodiscard]] refusal_reason check(const driver::retry_question& question) const noexcept {
        const refusal_reason refusal = check(question.facts, question.repeat);
        const bool is_unknown =
            refusal == refusal_reason::none && !detail::states_anything(question.facts);
        return is_unknown && detail::is_programming_error(question.failure)
                   ? refusal_reason::programming_error
                   : refusal;
    }

private:
    /// For failures after which the service may have acted.
    [[nodiscard]] constexpr refusal_reason check_mark(repeatability repeat) const noexcept {
        switch (repeat) {
            case repeatability::repeatable:
                return refusal_reason::none;
            case repeatability::unspecified:
                return options.unmarked_calls == when_unstated::retry
                           ? refusal_reason::none
                           : refusal_reason::unmarked_call;
            case repeatability::not_repeatable:
                return refusal_reason::not_repeatable;
        }
        return refusal_reason::not_repeatable;  // A value outside the enumeration: not trusted.
    }
};

}  // namespace reprise
