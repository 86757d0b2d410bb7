#pragma once

/// The functions of a strategy, and the calls into it. Drivers use this; users read
/// `retry_strategy.hpp`.

#include <concepts>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

#include <reprise/retry/circuit_breaker.hpp>
#include <reprise/retry/detail/compiler.hpp>
#include <reprise/retry/driver/retry_question.hpp>
#include <reprise/retry/retry_observer.hpp>
#include <reprise/retry/token_bucket.hpp>

namespace reprise {

namespace driver {

class retry_strategy;

/// A strategy that answers at once. `retry_after` may change `token.memory`; the rest of the token
/// is kept for it.
template <class S>
concept inline_strategy = requires(
    S& strategy, token_state& token, const token_state& used, const decision_context& at,
    const retry_question& question) {
    { strategy.on_start(token, at) } -> std::same_as<decision>;
    { strategy.retry_after(token, question) } -> std::same_as<retry_action>;
    { strategy.on_success(used, at) } -> std::same_as<void>;
};

/// A strategy that loops accept.
template <class S>
concept any_retry_strategy = inline_strategy<S> || std::derived_from<S, driver::retry_strategy>;

/// A strategy passed by value. Opt in with `static constexpr bool is_passed_by_value = true`, as
/// `attempts(3)` does.
template <class S>
concept value_strategy = inline_strategy<S> && std::copy_constructible<S> &&
                         requires { requires S::is_passed_by_value; };

/// A strategy as an argument of a loop: a named strategy, or a value.
template <class Given>
concept strategy_argument =
    value_strategy<std::remove_cvref_t<Given>> ||
    (std::is_lvalue_reference_v<Given> && any_retry_strategy<std::remove_reference_t<Given>>);

/// Properties of a strategy that do not change.
struct strategy_traits {
    /// Pass real time and randomness also at the start and the success (windowed budgets need it).
    bool needs_time = false;
    /// Retries per request at most; absent when nothing but time limits them. Nested loops take
    /// their allowance from it.
    std::optional<std::uint32_t> retries_max{};
    /// The strategy has nothing to do when a request starts or succeeds: a start grants a token
    /// without a delay, and neither function is called.
    bool only_answers = false;
    /// Asked before each attempt; null: none. Must live as long as the strategy.
    circuit_breaker* circuit = nullptr;
    /// Observes the calls of this strategy; null: nothing. Must live as long as the strategy.
    retry_observer* observer = nullptr;
    /// Makes a span for each call of this strategy and one for each of its attempts; null: calls
    /// are not traced. Must live as long as the strategy.
    retry_tracer* tracer = nullptr;

    /// True if calls have a breaker, an observer or a tracer. Most have none.
    [[nodiscard]] constexpr bool has_attachments() const noexcept {
        return circuit != nullptr || observer != nullptr || tracer != nullptr;
    }
};

/// The traits of any strategy; the defaults for one without traits. As the strategy returns
/// them, since each loop asks: a reference stays one.
template <class S>
[[nodiscard]] decltype(auto) traits_of(const S& strategy) noexcept {
    if constexpr (requires {
                      { strategy.traits() } -> std::convertible_to<strategy_traits>;
                  }) {
        return strategy.traits();
    } else {
        return strategy_traits{};
    }
}

}  // namespace driver

namespace detail {

/// A strategy as its loop keeps it: a copy of a value, a reference to everything else.
template <class Given>
using kept_strategy = std::conditional_t<
    driver::value_strategy<std::remove_cvref_t<Given>>, std::remove_cvref_t<Given>,
    std::remove_reference_t<Given>&>;

/// A strategy as a loop keeps it, in one piece that can be passed on.
template <class Kept>
struct strategy_holder {
    Kept strategy;
};

/// Fails to compile, with a readable error, unless `Given` can be the strategy of a loop.
template <class Given>
constexpr bool check_strategy() noexcept {
    static_assert(
        driver::strategy_argument<Given> || !driver::any_retry_strategy<std::remove_cvref_t<Given>>,
        "this strategy is shared by all calls of a client: give it a name and keep it, or write "
        "reprise::attempts(3), which is a value");
    static_assert(
        driver::any_retry_strategy<std::remove_cvref_t<Given>>,
        "this is no retry strategy: start with reprise::attempts(3) or reprise::standard_strategy, "
        "or derive from reprise::driver::retry_strategy");
    return driver::strategy_argument<Given>;
}

/// Strategy instances are distinguished by a counter, never by address: a new object at an old
/// place must not accept the old one's tokens.
[[nodiscard]] REPRISE_EXPORT std::uint64_t next_issuer_id() noexcept;

[[nodiscard]] inline driver::decision strategy_failed() noexcept {
    return {refusal_reason::strategy_failed, -1};
}

/// Of a strategy behind the interface, with one virtual call (`retry_strategy.hpp`).
[[nodiscard]] driver::decision report_virtual_start(
    driver::retry_strategy& strategy, driver::token_state& token,
    const driver::decision_context& at) noexcept;
void report_virtual_success(
    driver::retry_strategy& strategy, const driver::token_state& token,
    const driver::decision_context& at) noexcept;

/// The strategy's initial answer, `strategy_failed` if it throws.
template <class Strategy>
[[nodiscard]] driver::decision report_start(
    Strategy& strategy, driver::token_state& token, const driver::decision_context& at) noexcept {
    if constexpr (std::derived_from<Strategy, driver::retry_strategy>) {
        return report_virtual_start(strategy, token, at);
    } else {
        return guarded(strategy_failed(), [&]() noexcept(noexcept(strategy.on_start(token, at))) {
            return strategy.on_start(token, at);
        });
    }
}

/// A success; what the strategy throws about it is ignored, since the request has succeeded.
template <class Strategy>
void report_success(
    Strategy& strategy, const driver::token_state& token,
    const driver::decision_context& at) noexcept {
    if constexpr (std::derived_from<Strategy, driver::retry_strategy>) {
        report_virtual_success(strategy, token, at);
    } else {
        static_cast<void>(guarded(false, [&]() noexcept(noexcept(strategy.on_success(token, at))) {
            strategy.on_success(token, at);
            return true;
        }));
    }
}

/// The budget that a strategy names; null: none.
template <class Strategy>
[[nodiscard]] driver::retry_budget* budget_of(Strategy& strategy) noexcept {
    if constexpr (requires {
                      { strategy.paying_budget() } -> std::same_as<driver::retry_budget*>;
                  }) {
        return strategy.paying_budget();
    } else {
        return nullptr;
    }
}

/// Asks an inline strategy. The action carries what the strategy remembers.
template <driver::inline_strategy Strategy>
[[nodiscard]] driver::retry_action ask(
    Strategy& strategy, const driver::retry_question& question) noexcept {
    driver::token_state token = question.token;
    const driver::retry_action action = guarded(
        driver::retry_action::no(refusal_reason::strategy_failed),
        [&]() noexcept(noexcept(strategy.retry_after(token, question))) {
            return strategy.retry_after(token, question);
        });
    return action.remembering(token.memory);
}

/// One of several attempts that run at the same time has failed, and the others may still succeed:
/// for strategies that count failures. True if the strategy forbids a retry after this failure; a
/// strategy that throws forbids it, too.
template <class Strategy>
[[nodiscard]] bool note_failure(
    Strategy& strategy, const driver::retry_question& question) noexcept {
    bool is_forbidden = forbids_retry(question.facts);
    if constexpr (requires {
                      { strategy.note_failure(question) } -> std::same_as<bool>;
                  }) {
        is_forbidden |= guarded(true, [&]() noexcept(noexcept(strategy.note_failure(question))) {
            return strategy.note_failure(question);
        });
    }
    return is_forbidden;
}

/// The pause that a failure asks for. A strategy may recognise more failures than the loop; without
/// a word from it, or if it throws, the pause in the facts.
template <class Strategy>
[[nodiscard]] std::optional<duration> minimum_wait_of(
    Strategy& strategy, const driver::retry_question& question) noexcept {
    if constexpr (requires {
                      { strategy.minimum_wait(question) } -> std::same_as<std::optional<duration>>;
                  }) {
        return guarded(
            question.facts.minimum_wait, [&]() noexcept(noexcept(strategy.minimum_wait(question))) {
                return strategy.minimum_wait(question);
            });
    } else {
        return question.facts.minimum_wait;
    }
}

/// Asks through the virtual interface where nothing can wait for a late answer.
[[nodiscard]] REPRISE_EXPORT driver::retry_action ask(
    driver::retry_strategy& strategy, const driver::retry_question& question) noexcept;

}  // namespace detail

}  // namespace reprise
