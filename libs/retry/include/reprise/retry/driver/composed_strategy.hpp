#pragma once

/// A strategy put together from three policies, one per question:
///
/// ```
/// Retryable  may this failure be retried?   refusal_reason check(facts, repeatability)
///                                        or refusal_reason check(const driver::retry_question&)
/// Backoff    how long to wait?              duration wait(token_state&, const retry_question&)
/// Budget     who pays for it?               a `driver::retry_budget`, or `no_budget`
/// ```
///
/// plus the maximum number of attempts. It proposes; the deadline and the price are checked when
/// the proposal is admitted (`driver/admission.hpp`). To change one question, replace one policy:
/// ```
///     struct also_conflicts : reprise::driver::stated_safety { ... };
///     ...
///     driver::composed_strategy strategy(
///         {.attempts_max = 4}, also_conflicts{}, driver::exponential_backoff({.base = 10ms}),
///         driver::token_bucket_budget(std::make_shared<reprise::token_bucket>()));
/// ```

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <typeinfo>
#include <utility>
#include <variant>

#include <reprise/retry/circuit_breaker.hpp>
#include <reprise/retry/detail/compiler.hpp>
#include <reprise/retry/driver/retry_question.hpp>
#include <reprise/retry/driver/retry_strategy.hpp>
#include <reprise/retry/retry_errc.hpp>
#include <reprise/retry/retry_observer.hpp>
#include <reprise/retry/token_bucket.hpp>

/// The first question of every strategy: does this failure allow a retry at all? This is the only
/// implementation of the rule; docs/guide/idempotency.md has it as a table.

namespace reprise {

/// The rule for failures and calls about which nothing was stated.
enum class when_unstated : std::uint8_t {
    retry,
    refuse,
};

namespace driver {

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

}  // namespace driver

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

/// True if the fault is known, so that it decides when no safety is stated.
[[nodiscard]] constexpr bool states_fault(const failure_facts& facts) noexcept {
    return facts.fault == failure_fault::client || facts.fault == failure_fault::server;
}
/// True if the failure states a safety, or a fault that decides instead.
[[nodiscard]] constexpr bool states_anything(const failure_facts& facts) noexcept {
    return facts.safety.has_value() || states_fault(facts);
}
/// The same without a safety that was only assumed.
[[nodiscard]] constexpr bool states_anything(const driver::retry_question& question) noexcept {
    return (question.facts.safety.has_value() && !question.is_assumed) ||
           states_fault(question.facts);
}

}  // namespace detail

namespace driver {

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
            refusal == refusal_reason::none && !detail::states_anything(question);
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

}  // namespace driver

}  // namespace reprise

/// Backoff: the rule that gives the delay before a retry. Exponential (or constant, or linear),
/// capped, jittered; a pure function of (retry number, previous delay, random bits).

namespace reprise {

/// The spread of the computed delay d, so that clients that failed together do not return together.
enum class jitter : std::uint8_t {
    full,          ///< Uniform in [0, d).
    equal,         ///< Uniform in [d/2, d).
    decorrelated,  ///< Uniform in [base, 3 x previous delay), capped; takes no factor or step.
    none,          ///< Exactly d. Dangerous with many clients; `lint` warns.
};

namespace driver {

/// The growth of delays: before jitter, base x factor^n + step x n, at most cap.
struct backoff_options {
    duration base = std::chrono::seconds{1};  ///< Delay before the first retry, before jitter.
    double factor = 2.0;                      ///< Growth per retry; at least 1.
    duration cap = std::chrono::seconds{20};  ///< Largest delay, applied before jitter.
    reprise::jitter jitter = reprise::jitter::full;
    /// A service's minimum wait may lengthen a delay by at most this much. Absent (as in
    /// Smithy's guide): the hint is always respected in full, also above the cap.
    std::optional<duration> hint_excess_max{};
    duration step{};  ///< Added per retry, before the cap: linear growth; not negative.
};

/// The first contradiction, if any.
[[nodiscard]] REPRISE_EXPORT std::optional<driver::settings_error> check(
    const backoff_options& options);

}  // namespace driver

namespace detail {

/// The upper 64 bits of the product, by halves of 32 bits.
[[nodiscard]] constexpr std::uint64_t multiply_high(std::uint64_t a, std::uint64_t b) noexcept {
    constexpr std::uint64_t low_half = 0xffff'ffff;
    const std::uint64_t low = (a & low_half) * (b & low_half);
    const std::uint64_t first = (a >> 32U) * (b & low_half) + (low >> 32U);
    const std::uint64_t second = (a & low_half) * (b >> 32U) + (first & low_half);
    return (a >> 32U) * (b >> 32U) + (first >> 32U) + (second >> 32U);
}

/// Uniform in [0, span) from 64 random bits. Exact at both extremes, no overflow at any span.
[[nodiscard]] constexpr duration scale_random(duration span, std::uint64_t random) noexcept {
    if (span <= duration::zero()) {
        return duration::zero();
    }
    return duration{
        static_cast<std::int64_t>(multiply_high(static_cast<std::uint64_t>(span.count()), random))};
}

/// `a * b` for non-negative durations, held at `limit`.
[[nodiscard]] constexpr duration multiply_capped(
    duration value, std::int64_t by, duration limit) noexcept {
    if (by > 0 && value.count() > limit.count() / by) {
        return limit;
    }
    return std::min(limit, duration{value.count() * by});
}

}  // namespace detail

namespace driver {

/// The policy for delays that grow according to `backoff_options`. A service's hint is a lower
/// limit.
class exponential_backoff {
public:
    /// Throws `invalid_settings` for options that `check` refuses.
    explicit exponential_backoff(const backoff_options& options = {})
        : options_(detail::checked(options)) {}

    /// The delay before retry number `retry` (the first is 0). `previous` is the last delay this
    /// function returned for the same request (only decorrelated jitter uses it).
    [[nodiscard]] duration delay(
        std::uint32_t retry, duration previous, std::uint64_t random) const noexcept {
        if (options_.jitter == jitter::decorrelated) {
            const duration start = std::max(previous, options_.base);
            const duration top =
                std::max(detail::multiply_capped(start, 3, options_.cap), options_.base);
            return options_.base + detail::scale_random(top - options_.base, random);
        }
        const duration full = ceiling(retry);
        switch (options_.jitter) {
            case jitter::full:
                return detail::scale_random(full, random);
            case jitter::equal:
                return full / 2 + detail::scale_random(full - full / 2, random);
            case jitter::decorrelated:  // depends on the previous delay; not handled here
            case jitter::none:
                break;
        }
        return full;
    }

    /// The delay before jitter: min(cap, base x factor^retry + step x retry), at any retry number.
    [[nodiscard]] duration ceiling(std::uint32_t retry) const noexcept {
        // Powers by squaring in floating point: it saturates at infinity instead of overflowing.
        double power = 1.0;
        double square = options_.factor;
        for (std::uint32_t rest = retry; rest != 0; rest >>= 1U) {
            if ((rest & 1U) != 0U) {
                power *= square;
            }
            square *= square;
        }
        // Avoids 0 x infinity, which is not a number.
        const double grown = options_.base == duration::zero()
                                 ? 0.0
                                 : static_cast<double>(options_.base.count()) * power;
        const double value = grown + static_cast<double>(options_.step.count()) * retry;
        return value < static_cast<double>(options_.cap.count())
                   ? duration{static_cast<std::int64_t>(value)}
                   : options_.cap;
    }

    /// The backoff question of a composed strategy: delay of the next retry, hint included.
    [[nodiscard]] duration wait(
        driver::token_state& token, const driver::retry_question& question) const noexcept {
        const auto previous = duration{static_cast<std::int64_t>(token.memory)};
        const duration own = delay(token.attempt - 1, previous, question.at.random);
        token.memory = static_cast<std::uint64_t>(own.count());
        return respect_hint(own, question.facts);
    }

    /// Never shorter than the service's minimum wait (unless `hint_excess_max` is set).
    [[nodiscard]] duration respect_hint(duration own, const failure_facts& facts) const noexcept {
        if (!facts.minimum_wait) {
            return own;
        }
        duration hint = driver::at_least_zero(*facts.minimum_wait);
        if (options_.hint_excess_max && hint - own > *options_.hint_excess_max) {
            hint = own + *options_.hint_excess_max;
        }
        return std::max(own, hint);
    }

    [[nodiscard]] const backoff_options& options() const noexcept { return options_; }

private:
    backoff_options options_;
};

/// Two backoffs: one for throttling answers, one for everything else.
class backoff_by_kind {
public:
    backoff_by_kind(const backoff_options& transient, const backoff_options& throttling)
        : transient_(transient), throttling_(throttling) {}

    [[nodiscard]] duration wait(token_state& token, const retry_question& question) const noexcept {
        return (question.facts.throttling ? throttling_ : transient_).wait(token, question);
    }

private:
    exponential_backoff transient_;
    exponential_backoff throttling_;
};

}  // namespace driver

namespace driver {

/// No breaker and no observer. Costs nothing.
struct no_parts {};

/// Parts that strategies may share in addition to a budget. Each is optional.
struct shared_parts {
    /// Asked before each attempt; null: none.
    std::shared_ptr<circuit_breaker> breaker{};
    /// Sees the calls of all strategies that have it, e.g. `retry_metrics`; null: none.
    std::shared_ptr<retry_observer> observer{};
    /// Makes the spans of these calls; null: none.
    std::shared_ptr<retry_tracer> tracer{};
};

}  // namespace driver

namespace detail {

[[nodiscard]] inline driver::shared_parts to_shared(driver::no_parts) {
    return {};
}
[[nodiscard]] inline driver::shared_parts to_shared(driver::shared_parts parts) {
    return parts;
}

/// A first policy that can tell how long a failure asks to wait.
template <class Retryable>
concept knows_minimum_wait = requires(Retryable& policy, const driver::retry_question& question) {
    { policy.minimum_wait(question) } -> std::same_as<std::optional<duration>>;
};

}  // namespace detail

namespace driver {

/// The number of attempts of a composed strategy.
struct attempt_limits {
    /// All attempts count, the first included; 1 to 2^31 - 1. Absent: only time and budget limit
    /// them.
    std::optional<std::uint32_t> attempts_max = 5;
};

/// The first contradiction, if any.
[[nodiscard]] REPRISE_EXPORT std::optional<driver::settings_error> check(
    const attempt_limits& limits);

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

    /// Always granted, even if the budget is empty: it may have been refilled when the attempt
    /// fails.
    [[nodiscard]] decision on_start(token_state& token, const decision_context& at) noexcept {
        token = token_state{};
        if constexpr (detail::counts_requests<Budget>) {
            budget_.on_request(at.now);
        }
        return {};
    }

    /// Decides in this order: safety, attempts, delay. What a policy throws is passed on; loops
    /// take it for a refusal (`strategy_failed`).
    [[nodiscard]] retry_action retry_after(
        token_state& token, const retry_question& question) noexcept(has_nothrow_policies) {
        if (!question.is_noted) {
            count_failure(question);
        }
        if (const refusal_reason refusal = check_retryable(question);
            refusal != refusal_reason::none) {
            return retry_action::no(refusal);
        }
        if (token.attempt >= attempts_max_) {
            return retry_action::no(refusal_reason::attempts_exhausted);
        }
        return retry_action::after(delay_of(token, question));
    }

    /// If several attempts run at the same time, each failure counts and is checked: one that must
    /// not be retried is final even if another one fails later.
    [[nodiscard]] bool note_failure(const retry_question& question) noexcept(has_nothrow_policies) {
        count_failure(question);
        return check_retryable(question) != refusal_reason::none;
    }

    /// A policy may know of a pause that the facts do not show.
    [[nodiscard]] std::optional<duration> minimum_wait(const retry_question& question) noexcept(
        has_nothrow_policies) {
        if constexpr (detail::knows_minimum_wait<Retryable>) {
            return retryable_.minimum_wait(question);
        } else {
            return question.facts.minimum_wait;
        }
    }

    void on_success(const token_state& token, const decision_context& at) noexcept {
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
            known.tracer = parts_.tracer.get();
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
    [[nodiscard]] driver::retry_budget* paying_budget() noexcept {
        if constexpr (std::derived_from<Budget, driver::retry_budget>) {
            return &budget_;
        } else {
            return nullptr;
        }
    }

    [[nodiscard]] const Parts& parts() const noexcept { return parts_; }

private:
    static constexpr bool has_nothrow_policies = [] {
        using asked = Retryable&;
        using question_type = const retry_question&;
        bool is_so = noexcept(std::declval<Backoff&>().wait(
            std::declval<token_state&>(), std::declval<question_type>()));
        if constexpr (detail::knows_minimum_wait<Retryable>) {
            is_so &= noexcept(std::declval<asked>().minimum_wait(std::declval<question_type>()));
        }
        if constexpr (requires(asked policy, question_type question) { policy.check(question); }) {
            is_so &= noexcept(std::declval<asked>().check(std::declval<question_type>()));
        } else {
            is_so &= noexcept(std::declval<asked>().check(failure_facts{}, repeatability{}));
        }
        return is_so;
    }();

    [[nodiscard]] duration delay_of(token_state& token, const retry_question& question) noexcept(
        has_nothrow_policies) {
        if constexpr (detail::knows_minimum_wait<Retryable>) {
            retry_question hinted = question;
            hinted.facts.minimum_wait = retryable_.minimum_wait(question);
            return backoff_.wait(token, hinted);
        } else {
            return backoff_.wait(token, question);
        }
    }
    void count_failure([[maybe_unused]] const retry_question& question) noexcept {
        if constexpr (detail::counts_failures<Budget>) {
            budget_.on_failure(question.facts, question.at.now);
        }
    }
    [[nodiscard]] refusal_reason check_retryable(const retry_question& question) noexcept(
        has_nothrow_policies) {
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

/// One object for all requests of a client.
template <class Retryable, class Backoff, budget_policy Budget, class Parts = no_parts>
class composed_strategy
    : public composed_policies<Retryable, Backoff, Budget, Parts>,
      public token_issuer<composed_strategy<Retryable, Backoff, Budget, Parts>> {
public:
    /// Throws `invalid_settings` for limits that `check` refuses.
    composed_strategy(
        const attempt_limits& limits, Retryable retryable, Backoff backoff, Budget budget,
        Parts parts = {})
        : composed_policies<Retryable, Backoff, Budget, Parts>(
              limits, std::move(retryable), std::move(backoff), std::move(budget),
              std::move(parts)) {}
};

}  // namespace driver

}  // namespace reprise
