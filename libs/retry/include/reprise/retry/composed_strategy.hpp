#pragma once

/// A strategy put together from three policies, one per question:
///
/// ```
/// Retryable  may this failure be retried?   refusal_reason check(facts, repeatability)
///                                        or refusal_reason check(const driver::retry_question&)
/// Backoff    how long to wait?              duration wait(token_state&, const retry_question&)
/// Budget     who pays for it?               see budget.hpp
/// ```
///
/// plus the maximum number of attempts. It proposes; the deadline and the price are looked at when
/// the proposal is admitted (`admission.hpp`). To change one question, replace one
/// policy:
/// ```
///     struct also_conflicts : reprise::stated_safety { ... };
///     ...
///     reprise::composed_strategy strategy(
///         {.attempts_max = 4}, also_conflicts{}, reprise::exponential_backoff({.base = 10ms}),
///         reprise::token_bucket_budget(std::make_shared<reprise::token_bucket>()));
/// ```

#include <concepts>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include <reprise/retry/backoff.hpp>
#include <reprise/retry/budget.hpp>
#include <reprise/retry/circuit_breaker.hpp>
#include <reprise/retry/detail/compiler.hpp>
#include <reprise/retry/retry_observer.hpp>
#include <reprise/retry/retry_strategy.hpp>
#include <reprise/retry/retryable.hpp>

namespace reprise {

namespace driver {

/// No breaker and no observer. Costs nothing.
struct no_parts {};

/// Parts that strategies may share in addition to a budget. Each is optional.
struct shared_parts {
    /// Asked before each attempt; null: none.
    std::shared_ptr<circuit_breaker> breaker{};
    /// Sees the calls of all strategies that have it, e.g. `retry_metrics`; null: none.
    std::shared_ptr<retry_observer> observer{};
};

}  // namespace driver

namespace detail {

[[nodiscard]] inline driver::shared_parts to_shared(driver::no_parts) {
    return {};
}
[[nodiscard]] inline driver::shared_parts to_shared(driver::shared_parts parts) {
    return parts;
}

}  // namespace detail

namespace driver {

/// How many attempts a composed strategy makes.
struct attempt_limits {
    /// All attempts count, the first included; 1 to 2^31 - 1. Absent: only time and budget limit
    /// them.
    std::optional<std::uint32_t> attempts_max = 5;
};

/// The first contradiction, if any.
[[nodiscard]] REPRISE_EXPORT std::optional<settings_error> check(const attempt_limits& limits);

/// The three policies and what follows from them. A value; copies share what their budget shares.
template <class Retryable, class Backoff, budget_policy Budget, class Parts = no_parts>
class composed_policies {
public:
    /// Throws `invalid_settings` for limits that `check` refuses.
    composed_policies(
        const attempt_limits& limits, Retryable retryable, Backoff backoff, Budget budget,
        Parts parts = {})
        : attempts_max_(detail::checked(limits).attempts_max.value_or(
              std::numeric_limits<std::uint32_t>::max())),
          retryable_(std::move(retryable)),
          backoff_(std::move(backoff)),
          budget_(std::move(budget)),
          parts_(std::move(parts)) {}

    /// Always granted, also when the budget is empty: it may not be empty when the attempt fails.
    [[nodiscard]] decision begin(token_state& token, const decision_context& at) noexcept {
        token = token_state{};
        if constexpr (detail::counts_requests<Budget>) {
            budget_.on_request(at.now);
        }
        return {};
    }

    /// Asks in the order: safety, attempts, delay.
    [[nodiscard]] retry_action retry_after(
        token_state& token, const retry_question& question) noexcept {
        if constexpr (detail::counts_failures<Budget>) {
            budget_.on_failure(question.facts, question.at.now);
        }
        if (const refusal_reason refusal = check_retryable(question);
            refusal != refusal_reason::none) {
            return retry_action::no(refusal);
        }
        if (token.attempt >= attempts_max_) {
            return retry_action::no(refusal_reason::attempts_exhausted);
        }
        return retry_action::after(backoff_.wait(token, question));
    }

    void succeed(const token_state& token, const decision_context& at) noexcept {
        budget_.on_success(token.cost, token.attempt, at.now);
    }

    [[nodiscard]] strategy_traits traits() const noexcept {
        strategy_traits known;
        if (attempts_max_ != std::numeric_limits<std::uint32_t>::max()) {
            known.retries_max = attempts_max_ - 1;
        }
        if constexpr (requires { Budget::needs_time; }) {
            known.needs_time = Budget::needs_time;
        }
        if constexpr (std::same_as<Parts, shared_parts>) {
            known.circuit = parts_.breaker.get();
            known.observer = parts_.observer.get();
        }
        return known;
    }

    [[nodiscard]] attempt_limits limits() const noexcept {
        return {
            attempts_max_ == std::numeric_limits<std::uint32_t>::max()
                ? std::nullopt
                : std::optional(attempts_max_)};
    }
    [[nodiscard]] const Retryable& retryable() const noexcept { return retryable_; }
    [[nodiscard]] const Backoff& backoff() const noexcept { return backoff_; }
    [[nodiscard]] const Budget& budget() const noexcept { return budget_; }
    /// The budget that pays for this strategy's retries; null: they are free.
    [[nodiscard]] retry_budget* paying_budget() noexcept {
        if constexpr (std::derived_from<Budget, retry_budget>) {
            return &budget_;
        } else {
            return nullptr;
        }
    }

    [[nodiscard]] const Parts& parts() const noexcept { return parts_; }

private:
    [[nodiscard]] refusal_reason check_retryable(const retry_question& question) noexcept {
        if constexpr (requires { retryable_.check(question); }) {
            return retryable_.check(question);
        } else {
            return retryable_.check(question.facts, question.repeat);
        }
    }

    std::uint32_t attempts_max_;
    [[no_unique_address]] Retryable retryable_;
    Backoff backoff_;
    [[no_unique_address]] Budget budget_;
    [[no_unique_address]] Parts parts_;
};

}  // namespace driver

/// One object for all requests of a client.
template <
    class Retryable, class Backoff, driver::budget_policy Budget, class Parts = driver::no_parts>
class composed_strategy
    : public driver::composed_policies<Retryable, Backoff, Budget, Parts>,
      public driver::token_issuer<composed_strategy<Retryable, Backoff, Budget, Parts>> {
public:
    /// Throws `invalid_settings` for limits that `check` refuses.
    composed_strategy(
        const driver::attempt_limits& limits, Retryable retryable, Backoff backoff, Budget budget,
        Parts parts = {})
        : driver::composed_policies<Retryable, Backoff, Budget, Parts>(
              limits, std::move(retryable), std::move(backoff), std::move(budget),
              std::move(parts)) {}
};

/// Exactly one attempt, always.
class no_retry : public driver::token_issuer<no_retry> {
public:
    [[nodiscard]] driver::decision begin(
        driver::token_state& token, const driver::decision_context&) noexcept {
        token = driver::token_state{};
        return {};
    }
    [[nodiscard]] driver::retry_action retry_after(
        driver::token_state&, const driver::retry_question&) noexcept {
        return driver::retry_action::no(refusal_reason::attempts_exhausted);
    }
    void succeed(const driver::token_state&, const driver::decision_context&) noexcept {}
    [[nodiscard]] driver::strategy_traits traits() const noexcept { return {.retries_max = 0}; }
};

}  // namespace reprise
