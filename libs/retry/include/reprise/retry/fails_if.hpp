#pragma once

/// Says which results of an operation are failures, for results that cannot say so themselves.
///
///     std::optional<row> found = reprise::retry(
///         strategy, reprise::fails_if(std::logical_not<>{}, [&] { return find_row(id); }));

#include <concepts>
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

#include <reprise/retry/detail/no_throw.hpp>
#include <reprise/retry/failure_facts.hpp>
#include <reprise/retry/failure_view.hpp>

namespace reprise {

/// An operation and the predicate that judges its results. Made by `fails_if`.
template <class Predicate, class Operation>
class judged_operation {
public:
    judged_operation(Predicate predicate, Operation operation)
        : predicate_(std::move(predicate)), operation_(std::move(operation)) {}

    template <class... Args>
        requires std::invocable<Operation&, Args...>
    decltype(auto) operator()(Args&&... args) {
        return std::invoke(operation_, std::forward<Args>(args)...);
    }

    /// The facts of a failed result; absent for a success. A predicate that throws counts as a
    /// failure without facts, which is not retried.
    template <class Result>
    [[nodiscard]] std::optional<failure_facts> judge(const Result& result) const noexcept {
        static_assert(
            std::predicate<const Predicate&, const Result&> ||
                std::is_invocable_r_v<
                    std::optional<failure_facts>, const Predicate&, const Result&>,
            "the predicate takes the operation's result and returns bool (true: failed) or "
            "std::optional<reprise::failure_facts>");
        using verdict = std::optional<failure_facts>;
        return detail::result_or(verdict{failure_facts{}}, [&]() -> verdict {
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

    /// Passes on the fallback of an operation that has one (`with_fallback`).
    [[nodiscard]] decltype(auto) recover(const failure_view& failure)
        requires requires(Operation& operation) { operation.recover(failure); }
    {
        return operation_.recover(failure);
    }
    /// Passes on the hedging of an operation that has it (`hedged`, of the Asio forms).
    [[nodiscard]] decltype(auto) hedging() const noexcept
        requires requires(const Operation& operation) { operation.hedging(); }
    {
        return operation_.hedging();
    }

private:
    Predicate predicate_;
    Operation operation_;
};

/// Wraps `operation` so that every loop takes a result for a failure if `predicate` says so. The
/// predicate replaces what the result says about itself; exceptions are failures as always.
///
/// It returns `bool` or `std::optional<failure_facts>`. `true` means: failed, and the call may be
/// repeated unless it is marked as not repeatable (`retry_safety::maybe`). Facts say more: whether
/// a retry is safe, how long to wait. In the completion-token loop it sees the first completion
/// argument. Both arguments are copied or moved in; pass `std::ref(operation)` to keep your own.
template <class Predicate, class Operation>
[[nodiscard]] auto fails_if(Predicate&& predicate, Operation&& operation) {
    return judged_operation<std::decay_t<Predicate>, std::decay_t<Operation>>(
        std::forward<Predicate>(predicate), std::forward<Operation>(operation));
}

}  // namespace reprise
