#pragma once

/// A result for the caller when all attempts have failed: a value, or what a function returns.
/// ```
///     const double price = reprise::retry(
///         reprise::attempts(3).every(10ms),
///         reprise::with_fallback(last_known_price, fetch_price));
/// ```
/// The fallback is part of the operation, so every loop and every strategy takes it. It is not used
/// when the caller asked to stop: such a call ends with its last error, as always.

#include <concepts>
#include <functional>
#include <type_traits>
#include <utility>

#include <reprise/retry/failure_facts.hpp>
#include <reprise/retry/outcome.hpp>

namespace reprise {

namespace detail {

/// An operation and the fallback for its result. Made by `with_fallback`.
template <class Fallback, class Operation>
class operation_with_fallback : public wrapped_operation<Operation> {
    static_assert(
        !requires(Operation& operation, const failure_view& failure) {
            operation.recover(failure);
        }, "this operation has a fallback already, which a second with_fallback would replace");

public:
    operation_with_fallback(Fallback fallback, Operation operation)
        : wrapped_operation<Operation>(std::move(operation)), fallback_(std::move(fallback)) {}

    /// The fallback's value. `failure` is what the last attempt failed with; empty if no attempt
    /// was made. Called at most once per call, by its loop.
    [[nodiscard]] decltype(auto) recover(const failure_view& failure) {
        if constexpr (std::invocable<Fallback&, const failure_view&>) {
            return std::invoke(fallback_, failure);
        } else if constexpr (std::invocable<Fallback&>) {
            return std::invoke(fallback_);
        } else if constexpr (std::copy_constructible<Fallback>) {
            return std::as_const(fallback_);  // The operation may be used again.
        } else {
            return static_cast<Fallback&&>(std::move(fallback_));
        }
    }

private:
    Fallback fallback_;
};

}  // namespace detail

/// Wraps `operation` so that a loop which gives up returns `fallback` instead of failing: a value,
/// or what a function returns that takes nothing or a `const failure_view&`. What the function
/// throws reaches the caller. Both arguments are copied or moved in. A value that cannot be copied
/// serves one call.
///
/// In the completion-token loop the value replaces the argument after the error code or
/// `exception_ptr`, which is then cleared; with a single argument such as `std::expected`, that
/// argument. What the function throws becomes the `exception_ptr`; with other signatures it leaves
/// through the function that runs the loop. In the coroutine loop the function may also be a
/// coroutine.
template <class Fallback, class Operation>
[[nodiscard]] auto with_fallback(Fallback&& fallback, Operation&& operation) {
    return detail::operation_with_fallback<std::decay_t<Fallback>, std::decay_t<Operation>>(
        std::forward<Fallback>(fallback), std::forward<Operation>(operation));
}

namespace detail {

template <class Operation>
concept has_fallback =
    requires(Operation& operation, const failure_view& failure) { operation.recover(failure); };

/// The value of the fallback of `operation`, as a `Result`.
template <class Result, class Operation>
[[nodiscard]] Result recovered(Operation& operation, const failure_view& failure) {
    using given = decltype(operation.recover(failure));
    constexpr bool is_placeholder = std::is_void_v<given> && std::is_empty_v<Result>;
    static_assert(
        is_placeholder || std::is_convertible_v<given, Result>,
        "the fallback must be a value that converts to the operation's result, or a function that "
        "returns one and takes nothing or a const reprise::failure_view&");
    if constexpr (std::is_void_v<given>) {
        operation.recover(failure);
        return Result{};
    } else {
        return operation.recover(failure);
    }
}

}  // namespace detail

}  // namespace reprise
