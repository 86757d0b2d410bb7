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

#include <algorithm>
#include <concepts>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <system_error>
#include <type_traits>
#include <utility>

#include <reprise/retry/detail/compiler.hpp>
#include <reprise/retry/driver/composed_strategy.hpp>

/// The failures that a one-line strategy retries: all of them, those of some types, or those for
/// which a predicate is true. The errors need no facts.
///
/// A selection narrows: of the failures that `driver::stated_safety` allows to be retried, it
/// keeps some. It never allows what the failure itself forbids.

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
        bool is_match = false;
        const auto answer = [&](const E& error) { is_match = visit(error); };
        if (question.failure.visit<E>(answer)) {
            return is_match;
        }
        if constexpr (std::same_as<E, std::error_code>) {
            const auto answer_code = [&](const std::system_error& error) { answer(error.code()); };
            if (question.failure.visit<std::system_error>(answer_code)) {
                return is_match;
            }
            const failure_facts& facts = question.facts;  // Boost's codes, those of adapters
            return facts.category != nullptr &&
                   visit(std::error_code(static_cast<int>(facts.code), *facts.category));
        }
        return false;
    }
}

/// The facts that an `E` states itself. It may not be in the list of `catching`, and its base
/// classes may state something else.
template <class E>
[[nodiscard]] std::optional<failure_facts> facts_as(const driver::retry_question& question) {
    std::optional<failure_facts> found;
    if constexpr (has_failure_traits<E> || has_adl_facts<E> || has_member_facts<E>) {
        question.failure.visit<E>([&found](const E& error) { found = facts_of(error); });
    }
    return found;
}

/// 0: states nothing; 3: forbids every retry.
[[nodiscard]] constexpr int strictness(const failure_facts& facts) noexcept {
    if (forbids_retry(facts)) {
        return 3;
    }
    if (facts.safety == retry_safety::yes) {
        return 1;
    }
    return states_anything(facts) ? 2 : 0;
}

/// Combines the facts of two named types that both match the failure: those of the stricter one,
/// such as a derived class that states `no`, with the longer wait.
[[nodiscard]] inline std::optional<failure_facts> stricter(
    const std::optional<failure_facts>& first, const std::optional<failure_facts>& second) {
    if (!first || !second) {
        return first ? first : second;
    }
    failure_facts both = strictness(*second) > strictness(*first) ? *second : *first;
    both.minimum_wait = std::max(first->minimum_wait, second->minimum_wait);
    return both;
}

}  // namespace REPRISE_VARIANT

inline namespace REPRISE_VARIANT {

/// What every failure has, and exceptions. Whatever else is thrown is rare enough to be named with
/// `on` and a base class.
template <class E, class Error>
inline constexpr bool can_be_besides_error =
    std::same_as<E, driver::retry_question> || std::same_as<E, failure_facts> ||
    std::same_as<E, failure_view> || std::same_as<E, std::error_code> ||
    std::is_base_of_v<std::exception, E> || std::is_polymorphic_v<E> ||
    std::same_as<Error, std::exception_ptr>;

/// True if a failed operation can ever be an `E`, if its result has errors of type `Error`. Only
/// thrown errors match their base classes, so one of `Error` would miss all that is returned.
template <class E, class Error>
inline constexpr bool can_be =
    std::same_as<E, Error> || (can_be_besides_error<E, Error> && !std::is_base_of_v<E, Error>);

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
        ((found = stricter(found, facts_as<E>(question))), ...);
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
        return stricter(first.own_facts(question), second.own_facts(question));
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
    driver::stated_safety safety{{.failures_without_facts = when_unstated::retry}};

    [[nodiscard]] refusal_reason check(const driver::retry_question& question) const noexcept {
        if (!result_or(false, [&] { return selection.matches(question); })) {
            return refusal_reason::predicate_refused;
        }
        const refusal_reason refusal = safety.check(question);
        if (refusal == refusal_reason::none) {
            return check_own_facts(question);
        }
        const bool is_named = refusal == refusal_reason::programming_error && result_or(false, [&] {
                                  return selection.names_programming_error(question);
                              });
        return is_named ? check_own_facts(question) : refusal;
    }
    /// A type that the strategy names may ask for a pause, too.
    [[nodiscard]] std::optional<duration> minimum_wait(
        const driver::retry_question& question) const noexcept
        requires(!std::same_as<Selection, every_failure>)
    {
        const std::optional<failure_facts> own = own_facts(question);
        return own ? std::max(own->minimum_wait, question.facts.minimum_wait)
                   : question.facts.minimum_wait;
    }

private:
    [[nodiscard]] std::optional<failure_facts> own_facts(
        const driver::retry_question& question) const noexcept {
        using facts = std::optional<failure_facts>;
        return result_or(facts{}, [&] { return selection.own_facts(question); });
    }
    /// A type that the strategy names may forbid the retry, whatever facts the loop has.
    [[nodiscard]] refusal_reason check_own_facts(
        const driver::retry_question& question) const noexcept {
        const std::optional<failure_facts> own = own_facts(question);
        const bool counts = own && (states_anything(*own) || !states_anything(question));
        return counts ? safety.check(*own, question.repeat) : refusal_reason::none;
    }
};

}  // namespace REPRISE_VARIANT

}  // namespace reprise::detail

namespace reprise {

namespace driver {

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
        duration base, duration cap = driver::backoff_options{}.cap, double factor = 2.0) const {
        return with({.base = base, .factor = factor, .cap = std::max(base, cap)});
    }
    /// Spreads the delays. `jitter::none` makes them exact.
    [[nodiscard]] simple_strategy with_jitter(reprise::jitter kind = jitter::full) const {
        driver::backoff_options changed = policies_.backoff().options();
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
    ///
    /// For an exception that is not listed in `catching`, the facts of a named type can forbid a
    /// retry and lengthen its delay, but can neither allow one nor set its price.
    template <class... E>
    [[nodiscard]] auto on() const {
        static_assert(sizeof...(E) > 0, "name the errors to retry: on<my_error>()");
        return select(detail::failure_types<E...>{});
    }

    /// Failures that state nothing about retries: an exception that the library cannot classify, an
    /// unknown error code. They are retried unless you pass `refuse` here, which is what
    /// `standard_strategy` does.
    [[nodiscard]] simple_strategy failures_without_facts(when_unstated choice) const {
        driver::safety_options changed = policies_.retryable().safety.options;
        changed.failures_without_facts = choice;
        return with(changed);
    }
    /// Calls without a mark (`call_options::repeat`), after failures of safety `maybe`. They are
    /// retried unless you pass `refuse` here.
    [[nodiscard]] simple_strategy unmarked_calls(when_unstated choice) const {
        driver::safety_options changed = policies_.retryable().safety.options;
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
    /// The same with the prices of `driver::retry_prices`.
    [[nodiscard]] auto budget(std::shared_ptr<token_bucket> bucket) const {
        return budget(driver::token_bucket_budget(std::move(bucket)));
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
    /// Makes a span for each call and one for each attempt.
    [[nodiscard]] auto tracer(std::shared_ptr<retry_tracer> shared) const {
        driver::shared_parts changed = detail::to_shared(policies_.parts());
        changed.tracer = std::move(shared);
        return with_parts(std::move(changed));
    }
    /// Called with each decision about a failed attempt.
    [[nodiscard]] auto on_decision(std::function<void(const decision_event&)> function) const {
        auto functions = std::make_shared<detail::observing_functions>();
        functions->decision = std::move(function);
        return observer(std::move(functions));
    }
    /// Called when a call has ended: attempts, total time, last error.
    [[nodiscard]] auto on_completion(std::function<void(const call_summary&)> function) const {
        auto functions = std::make_shared<detail::observing_functions>();
        functions->completion = std::move(function);
        return observer(std::move(functions));
    }

    [[nodiscard]] driver::decision on_start(
        driver::token_state& token, const driver::decision_context& at) noexcept {
        return policies_.on_start(token, at);
    }
    [[nodiscard]] driver::retry_action retry_after(
        driver::token_state& token, const driver::retry_question& question) noexcept {
        return policies_.retry_after(token, question);
    }
    [[nodiscard]] bool note_failure(const driver::retry_question& question) noexcept {
        return policies_.note_failure(question);
    }
    [[nodiscard]] std::optional<duration> minimum_wait(
        const driver::retry_question& question) noexcept {
        return policies_.minimum_wait(question);
    }
    void on_success(const driver::token_state& token, const driver::decision_context& at) noexcept {
        policies_.on_success(token, at);
    }
    [[nodiscard]] driver::strategy_traits traits() const noexcept { return policies_.traits(); }
    [[nodiscard]] driver::retry_budget* paying_budget() noexcept {
        return policies_.paying_budget();
    }

private:
    template <class OtherSelection, driver::budget_policy OtherBudget, class OtherParts>
    friend class simple_strategy;

    simple_strategy(
        const driver::attempt_limits& limits, const driver::backoff_options& backoff,
        detail::selected_failures<Selection> failures, Budget budget, Parts parts,
        bool has_own_jitter = false)
        : policies_(
              limits, std::move(failures), driver::exponential_backoff(backoff), std::move(budget),
              std::move(parts)),
          has_own_jitter_(has_own_jitter) {}

    [[nodiscard]] static driver::backoff_options default_backoff() noexcept {
        return {.base = std::chrono::milliseconds{100}};
    }

    [[nodiscard]] simple_strategy with(driver::backoff_options changed) const {
        if (has_own_jitter_) {
            changed.jitter = policies_.backoff().options().jitter;
        }
        return simple_strategy(
            policies_.limits(), changed, policies_.retryable(), policies_.budget(),
            policies_.parts(), has_own_jitter_);
    }
    [[nodiscard]] simple_strategy with(const driver::safety_options& changed) const {
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
        detail::selected_failures<Selection>, driver::exponential_backoff, Budget, Parts>
        policies_;
    bool has_own_jitter_ = false;
};

}  // namespace driver

inline namespace REPRISE_VARIANT {  // The type of their results depends on it, but not their names.

/// At most `count` attempts, the first included; at least 1. Throws `invalid_settings` for 0 and
/// for a negative number.
[[nodiscard]] inline driver::simple_strategy<> attempts(std::uint32_t count) {
    return driver::simple_strategy<>(count);
}

/// As many attempts as the deadline allows. Without a deadline or a stop token it never gives up.
[[nodiscard]] inline driver::simple_strategy<> unlimited_attempts() {
    return driver::simple_strategy<>(std::nullopt);
}

}  // namespace REPRISE_VARIANT

}  // namespace reprise
