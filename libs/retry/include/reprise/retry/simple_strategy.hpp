#pragma once

/// A strategy in one expression: how often, how far apart, after which failures.
/// ```
///     const unsigned first = reprise::retry(reprise::attempts(3), fetch);
///
///     const unsigned second = reprise::retry(
///         reprise::attempts(3).every(100ms).when([](const my_error& e) { return e.is_busy(); }),
///         fetch);
///
///     const auto rule = reprise::attempts(4).exponential(10ms, 1s).on<my_error>();
/// ```
/// It is a value: copy it, keep it in a constant, pass it in place to any loop. What you leave out
/// has a default:
///
/// ```
/// delay     exponential from 100 ms to 20 s with full jitter
/// failures  all of them, except those that state that a retry is wrong or pointless
///           (`retry_safety::no`, or a client's fault), and programming errors such as
///           `std::logic_error` and `std::bad_alloc`, which are retried only if you name them
/// budget    none. Every call may make all its attempts, also while the service is down. Where many
///           calls run at once, share a budget: `attempts(3).budget(bucket)`
/// ```
///
/// A minimum wait that the failure names lengthens a delay, as everywhere.

#include <functional>
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>

#include <reprise/retry/composed_strategy.hpp>
#include <reprise/retry/detail/compiler.hpp>
#include <reprise/retry/detail/selected_failures.hpp>

namespace reprise {

/// Start with `attempts`. Each function returns a changed copy. Those that take durations throw
/// `invalid_settings` for values that contradict each other.
template <
    class Selection = detail::every_failure, driver::budget_policy Budget = driver::no_budget,
    class Parts = driver::no_parts>
class simple_strategy {
public:
    /// Loops copy it; calls share nothing but the budget, which is shared by copies.
    static constexpr bool is_passed_by_value = true;
    static constexpr bool decides_without_facts = true;
    /// False if one of the named types can never occur in a result with errors of type `Error`.
    template <class Error>
    static constexpr bool can_match = Selection::template can_match<Error>;

    /// All attempts count, the first included; at least 1. Absent: only time limits them.
    explicit simple_strategy(std::optional<std::uint32_t> attempts_max)
        : simple_strategy(
              {attempts_max}, default_backoff(), detail::selected_failures<Selection>{}, Budget{},
              Parts{}) {}

    /// The same delay before every retry, exactly: add `with_jitter` where many clients may fail
    /// together.
    [[nodiscard]] simple_strategy every(duration delay) const {
        return with({.base = delay, .factor = 1.0, .cap = delay, .jitter = jitter::none});
    }
    /// `step`, 2 x `step`, 3 x `step`, ... up to `cap`, exactly.
    [[nodiscard]] simple_strategy linear(duration step, duration cap = duration::max()) const {
        return with(
            {.base = step, .factor = 1.0, .cap = cap, .jitter = jitter::none, .step = step});
    }
    /// `base`, `factor` x `base`, `factor`^2 x `base`, ... up to `cap`, with full jitter unless
    /// `with_jitter` changes it. The cap is at least `base`.
    [[nodiscard]] simple_strategy exponential(
        duration base, duration cap = backoff_options{}.cap, double factor = 2.0) const {
        return with({.base = base, .factor = factor, .cap = std::max(base, cap)});
    }
    /// Spreads the delays. `jitter::none` makes them exact.
    [[nodiscard]] simple_strategy with_jitter(reprise::jitter kind = jitter::full) const {
        backoff_options changed = policies_.backoff().options();
        changed.jitter = kind;
        return simple_strategy(
            policies_.limits(), changed, policies_.retryable(), policies_.budget(),
            policies_.parts(), true);
    }

    /// Narrows: of the failures that may be retried, only those for which `predicate(const E&)` is
    /// true. A failure that forbids a retry stays final; if its error type is wrong about that,
    /// correct its facts (`failure_traits`). `E` is the type that the
    /// predicate takes: an exception (or a base of it), the error of a result like `std::expected`,
    /// an error code, or a result that `fails_if` calls a failure. `std::error_code` also matches
    /// `std::system_error` and every failure whose facts carry a code, such as Boost's;
    /// `failure_facts` and `retry_question` match everything. A second predicate adds to the
    /// selection: either may be true. A predicate that throws counts as false.
    template <class Predicate>
    [[nodiscard]] auto when(Predicate predicate) const {
        static_assert(
            detail::has_predicate_argument<Predicate>,
            "the predicate takes one error, whose type must be known: write [](const my_error& e), "
            "not [](const auto& e), or name it: when<my_error>(predicate)");
        return when<detail::predicate_argument<Predicate>>(std::move(predicate));
    }
    template <class E, class Predicate>
    [[nodiscard]] auto when(Predicate predicate) const {
        static_assert(
            std::predicate<const Predicate&, const E&>,
            "the predicate takes a const E& and returns bool");
        return select(detail::failure_predicate<E, Predicate>{std::move(predicate)});
    }
    /// Narrows to failures that are one of these types. As `when` with predicates that are true.
    /// Programming errors are retried if one of the types is such an error:
    /// `on<std::logic_error>()`.
    template <class... E>
    [[nodiscard]] auto on() const {
        static_assert(sizeof...(E) > 0, "name the errors to retry: on<my_error>()");
        return select(detail::failure_types<E...>{});
    }

    /// Failures that state nothing about retries: an exception that the library cannot classify, an
    /// unknown error code. They are retried unless you pass `refuse` here, which is what
    /// `standard_strategy` does.
    [[nodiscard]] simple_strategy failures_without_facts(when_unstated choice) const {
        safety_options changed = policies_.retryable().safety.options;
        changed.failures_without_facts = choice;
        return with(changed);
    }
    /// Calls without a mark (`call_options::repeat`), after failures of safety `maybe`. They are
    /// retried unless you pass `refuse` here.
    [[nodiscard]] simple_strategy unmarked_calls(when_unstated choice) const {
        safety_options changed = policies_.retryable().safety.options;
        changed.unmarked_calls = choice;
        return with(changed);
    }

    /// Retries are paid for by `budget`. Copies of a budget share its level.
    template <driver::budget_policy Other>
    [[nodiscard]] auto budget(Other budget) const {
        return simple_strategy<Selection, Other, Parts>(
            policies_.limits(), policies_.backoff().options(), policies_.retryable(),
            std::move(budget), policies_.parts(), has_own_jitter_);
    }
    /// The same with the prices of `retry_prices`.
    [[nodiscard]] auto budget(std::shared_ptr<token_bucket> bucket) const {
        return budget(token_bucket_budget(std::move(bucket)));
    }

    /// Asked before each attempt. Share one among all strategies that call the same service.
    [[nodiscard]] auto breaker(std::shared_ptr<circuit_breaker> shared) const {
        driver::shared_parts changed = detail::to_shared(policies_.parts());
        changed.breaker = std::move(shared);
        return with_parts(std::move(changed));
    }
    /// Sees the calls of this strategy, e.g. `retry_metrics`. Several are notified in turn.
    [[nodiscard]] auto observer(std::shared_ptr<retry_observer> added) const {
        driver::shared_parts changed = detail::to_shared(policies_.parts());
        changed.observer = detail::both_observers(std::move(changed.observer), std::move(added));
        return with_parts(std::move(changed));
    }
    /// Called with each decision about a failed attempt.
    [[nodiscard]] auto on_decision(std::function<void(const decision_event&)> function) const {
        auto functions = std::make_shared<observing_functions>();
        functions->decision = std::move(function);
        return observer(std::move(functions));
    }
    /// Called when a call has ended: attempts, total time, last error.
    [[nodiscard]] auto on_completion(std::function<void(const call_summary&)> function) const {
        auto functions = std::make_shared<observing_functions>();
        functions->completion = std::move(function);
        return observer(std::move(functions));
    }

    [[nodiscard]] driver::decision begin(
        driver::token_state& token, const driver::decision_context& at) noexcept {
        return policies_.begin(token, at);
    }
    [[nodiscard]] driver::retry_action retry_after(
        driver::token_state& token, const driver::retry_question& question) noexcept {
        return policies_.retry_after(token, question);
    }
    void succeed(const driver::token_state& token, const driver::decision_context& at) noexcept {
        policies_.succeed(token, at);
    }
    [[nodiscard]] driver::strategy_traits traits() const noexcept { return policies_.traits(); }
    [[nodiscard]] retry_budget* paying_budget() noexcept { return policies_.paying_budget(); }

private:
    template <class OtherSelection, driver::budget_policy OtherBudget, class OtherParts>
    friend class simple_strategy;

    simple_strategy(
        const driver::attempt_limits& limits, const backoff_options& backoff,
        detail::selected_failures<Selection> failures, Budget budget, Parts parts,
        bool has_own_jitter = false)
        : policies_(
              limits, std::move(failures), exponential_backoff(backoff), std::move(budget),
              std::move(parts)),
          has_own_jitter_(has_own_jitter) {}

    [[nodiscard]] static backoff_options default_backoff() noexcept {
        return {.base = std::chrono::milliseconds{100}};
    }

    [[nodiscard]] simple_strategy with(backoff_options changed) const {
        if (has_own_jitter_) {
            changed.jitter = policies_.backoff().options().jitter;
        }
        return simple_strategy(
            policies_.limits(), changed, policies_.retryable(), policies_.budget(),
            policies_.parts(), has_own_jitter_);
    }
    [[nodiscard]] simple_strategy with(const safety_options& changed) const {
        return simple_strategy(
            policies_.limits(), policies_.backoff().options(),
            {policies_.retryable().selection, {changed}}, policies_.budget(), policies_.parts(),
            has_own_jitter_);
    }

    [[nodiscard]] auto with_parts(driver::shared_parts changed) const {
        return simple_strategy<Selection, Budget, driver::shared_parts>(
            policies_.limits(), policies_.backoff().options(), policies_.retryable(),
            policies_.budget(), std::move(changed), has_own_jitter_);
    }

    template <class Other>
    [[nodiscard]] auto select(Other selection) const {
        auto both = detail::either(policies_.retryable().selection, std::move(selection));
        return simple_strategy<decltype(both), Budget, Parts>(
            policies_.limits(), policies_.backoff().options(),
            detail::selected_failures<decltype(both)>{
                std::move(both), policies_.retryable().safety},
            policies_.budget(), policies_.parts(), has_own_jitter_);
    }

    driver::composed_policies<
        detail::selected_failures<Selection>, exponential_backoff, Budget, Parts>
        policies_;
    bool has_own_jitter_ = false;
};

inline namespace REPRISE_VARIANT {  // The type of their results depends on it, but not their names.

/// At most `count` attempts, the first included; at least 1. Throws `invalid_settings` for 0 and
/// for a negative number.
[[nodiscard]] inline simple_strategy<> attempts(std::uint32_t count) {
    return simple_strategy<>(count);
}

/// As many attempts as the deadline allows. Without a deadline or a stop token it never gives up.
[[nodiscard]] inline simple_strategy<> unlimited_attempts() {
    return simple_strategy<>(std::nullopt);
}

}  // namespace REPRISE_VARIANT

}  // namespace reprise
