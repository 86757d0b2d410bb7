#pragma once

/// Facts of thrown exceptions.
///
/// The loop catches whatever an operation throws and asks, in this order: the exception types
/// listed with `catching<...>`, `failure_description` (for exceptions that can inherit from it),
/// `std::system_error`, and codes that are thrown as they are (`std::error_code`,
/// `std::error_condition`, `std::errc`). An exception that none of these covers has no facts: the
/// strategy decides
/// (`safety_options::failures_without_facts`). What is not retried goes on to the caller as the
/// very object that was thrown.

#include <exception>
#include <optional>
#include <system_error>

#include <reprise/retry/detail/compiler.hpp>
#include <reprise/retry/failure_facts.hpp>
#include <reprise/retry/failure_view.hpp>

namespace reprise {

/// Base for exception hierarchies that describe themselves.
class REPRISE_EXPORT failure_description {
public:
    failure_description() = default;
    failure_description(const failure_description&) = default;
    failure_description& operator=(const failure_description&) = default;
    virtual ~failure_description();

    /// Called once per failed attempt, from the thread that runs the loop.
    [[nodiscard]] virtual failure_facts retry_facts() const noexcept = 0;
};

namespace detail {

/// A list of exception types that the loop should describe with `facts_of`. Pass it to `retry`:
/// `retry(strategy, options, catching<db_error, http_error>, operation)`.
template <class... Exceptions>
struct catching_t {};

}  // namespace detail

/// The list as an argument.
template <class... Exceptions>
inline constexpr detail::catching_t<Exceptions...> catching{};

namespace detail {

/// Facts by inheritance, or of a code of the standard library; empty for everything else.
[[nodiscard]] REPRISE_EXPORT failure_facts
describe_exception(const std::exception_ptr& thrown) noexcept;

}  // namespace detail

/// An exception that an operation returns instead of throwing it, such as the error of a
/// `std::expected<T, std::exception_ptr>`, has the facts that it would have if it were thrown.
template <>
struct failure_traits<std::exception_ptr> {
    [[nodiscard]] static failure_facts describe(const std::exception_ptr& thrown) noexcept {
        return thrown == nullptr ? failure_facts{} : detail::describe_exception(thrown);
    }
};

namespace detail {

inline namespace REPRISE_VARIANT {

template <class E>
[[nodiscard]] std::optional<failure_facts> describe_as(const std::exception_ptr& thrown) noexcept {
    static_assert(
        describes_failure<E>,
        "this exception says nothing about retries; give it (1) a function retry_facts(const E&) "
        "beside it, (2) a member retry_facts() const, or (3) a specialisation of "
        "reprise::failure_traits<E>");
    const E* const error = find_thrown<E>(thrown);
    return error != nullptr ? std::optional(facts_of(*error)) : std::nullopt;
}

template <class... Exceptions>
[[nodiscard]] failure_facts describe_exception(
    const std::exception_ptr& thrown, detail::catching_t<Exceptions...>) noexcept {
    std::optional<failure_facts> found;
    // The first listed type that matches wins, as in a sequence of catch clauses.
    static_cast<void>(((found = describe_as<Exceptions>(thrown)).has_value() || ...));
    return found ? *found : detail::describe_exception(thrown);
}

}  // namespace REPRISE_VARIANT

}  // namespace detail

}  // namespace reprise
