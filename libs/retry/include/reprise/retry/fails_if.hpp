#pragma once

/// Defines which results of an operation are failures, for types that do not show it themselves.
/// ```
///     const std::optional<std::string> row = reprise::retry(
///         strategy, reprise::fails_if(std::logical_not<>{}, [&] { return find_row(asked); }));
/// ```

#include <concepts>
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

#include <reprise/retry/detail/compiler.hpp>
#include <reprise/retry/failure_facts.hpp>
#include <reprise/retry/failure_view.hpp>
#include <reprise/retry/outcome.hpp>

namespace reprise {

namespace detail {

/// An operation that `fails_if` has wrapped.
template <class Operation>
concept has_predicate = requires { requires Operation::has_predicate; };

/// An operation that is called like the one in it and passes on what that one has: a predicate
/// (`fails_if`), a statement (`throws_on_failure`), a fallback (`with_fallback`), hedging
/// (`hedged`, of the Asio forms).
template <class Operation>
class wrapped_operation : public operation_wrapper {
public:
    static constexpr bool fails_only_by_throwing = detail::fails_only_by_throwing<Operation>;
    static constexpr bool has_predicate = detail::has_predicate<Operation>;

    explicit wrapped_operation(Operation operation) : operation_(std::move(operation)) {
        check_visible<Operation>();
    }

    template <class... Args>
        requires std::invocable<Operation&, Args...>
    decltype(auto) operator()(Args&&... args) {
        return std::invoke(operation_, std::forward<Args>(args)...);
    }
    template <class Result, class = variant>
        requires judges_result<Operation, Result>
    [[nodiscard]] std::optional<failure_facts> judge(const Result& result) const noexcept {
        return operation_.judge(result);
    }
    [[nodiscard]] decltype(auto) recover(const failure_view& failure)
        requires requires(Operation& operation) { operation.recover(failure); }
    {
        return operation_.recover(failure);
    }
    [[nodiscard]] decltype(auto) hedging() const noexcept
        requires requires(const Operation& operation) { operation.hedging(); }
    {
        return operation_.hedging();
    }

private:
    Operation operation_;
};

/// An operation and the predicate that judges its results. Made by `fails_if`.
template <class Predicate, class Operation>
class judged_operation : public wrapped_operation<Operation> {
    static_assert(
        !has_predicate<Operation>,
        "this operation has a predicate already, which a second fails_if would replace; say both "
        "in one predicate");

public:
    static constexpr bool has_predicate = true;

    judged_operation(Predicate predicate, Operation operation)
        : wrapped_operation<Operation>(std::move(operation)), predicate_(std::move(predicate)) {}

    /// The facts of a failed result; absent for a success. If the predicate throws, the result may
    /// have been a success: it counts as a failure that must not be retried.
    template <class Result, class = variant>
    [[nodiscard]] std::optional<failure_facts> judge(const Result& result) const noexcept {
        static_assert(
            std::predicate<const Predicate&, const Result&> ||
                std::is_invocable_r_v<
                    std::optional<failure_facts>, const Predicate&, const Result&>,
            "the predicate takes the operation's result and returns bool (true: failed) or "
            "std::optional<reprise::failure_facts>");
        using verdict = std::optional<failure_facts>;
        return result_or(verdict{failure_facts{.safety = retry_safety::no}}, [&]() -> verdict {
            if constexpr (std::predicate<const Predicate&, const Result&>) {
                if (std::invoke(predicate_, result)) {
                    return failure_facts{.safety = retry_safety::maybe};
                }
                return std::nullopt;
            } else {
                return std::invoke(predicate_, result);
            }
        });
    }

private:
    Predicate predicate_;
};

/// An operation of which no result is a failure. Made by `throws_on_failure`.
template <class Operation>
class throwing_operation : public wrapped_operation<Operation> {
public:
    static constexpr bool fails_only_by_throwing = true;

    using wrapped_operation<Operation>::wrapped_operation;
};

}  // namespace detail

/// Wraps `operation` so that every loop takes a result for a failure if `predicate` returns true.
/// The predicate replaces `outcome_traits`; exceptions are failures as always.
///
/// It returns `bool` or `std::optional<failure_facts>`. `true` means: failed, and the call may be
/// repeated unless it is marked as not repeatable (`retry_safety::maybe`). Facts add details:
/// whether a retry is safe, how long to wait. In the completion-token loop it sees the first
/// completion argument. Both arguments are copied or moved in; pass `std::ref(operation)` to keep
/// your own.
template <class Predicate, class Operation>
[[nodiscard]] auto fails_if(Predicate&& predicate, Operation&& operation) {
    return detail::judged_operation<std::decay_t<Predicate>, std::decay_t<Operation>>(
        std::forward<Predicate>(predicate), std::forward<Operation>(operation));
}

/// States that `operation` fails only by throwing, so that every loop takes a plain result for a
/// success, although its type has values that often mean failure: an `int`, an enumeration, a
/// pointer, a `bool`, a `std::optional`. Results that report failures themselves, such as
/// `std::expected`, still do.
template <class Operation>
[[nodiscard]] auto throws_on_failure(Operation&& operation) {
    return detail::throwing_operation<std::decay_t<Operation>>(std::forward<Operation>(operation));
}

}  // namespace reprise
