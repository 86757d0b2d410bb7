#pragma once

/// What a retry strategy is.
///
/// Two forms, one meaning. The class `retry_strategy` is the interface for plug-ins and for code
/// that wants one type: loops and the Couchbase client take it alike, and it may answer later. The
/// concept `inline_strategy` is the same for strategies that answer at once, without virtual calls.
/// `virtual_strategy<S>` turns the second into the first.
///
/// ```
/// start        once per request, before the first attempt; refusing means one attempt, no retries
/// retry_after  after each failed attempt: proposes a delay, or says no
/// success      after the attempt that succeeded, exactly once
/// ```
///
/// A strategy proposes. It never charges a budget, takes an allowance or looks at the deadline:
/// `admit` does that for all of them (`admission.hpp`). It names the budget that pays.
///
/// A strategy holds nothing that belongs to single requests. One object serves all threads of a
/// client; every call may come from any thread at any time.

#include <atomic>
#include <concepts>
#include <cstdint>
#include <exception>
#include <optional>
#include <system_error>
#include <type_traits>
#include <utility>

#include <reprise/retry/admission.hpp>
#include <reprise/retry/circuit_breaker.hpp>
#include <reprise/retry/detail/export.hpp>
#include <reprise/retry/detail/no_throw.hpp>
#include <reprise/retry/retry_observer.hpp>
#include <reprise/retry/retry_progress.hpp>
#include <reprise/retry/retry_sink.hpp>
#include <reprise/retry/token.hpp>

namespace reprise {

class retry_strategy;

/// A strategy that answers at once. `retry_after` may change `token.memory`; the rest of the token
/// is kept for it.
template <class S>
concept inline_strategy = requires(
    S& strategy, token_state& token, const token_state& used, const decision_context& at,
    const retry_question& question) {
    { strategy.begin(token, at) } -> std::same_as<decision>;
    { strategy.retry_after(token, question) } -> std::same_as<retry_action>;
    { strategy.succeed(used, at) } -> std::same_as<void>;
};

/// What loops accept.
template <class S>
concept any_retry_strategy = inline_strategy<S> || std::derived_from<S, retry_strategy>;

/// A strategy that loops copy: its calls share nothing but what its copies share. It says so by
/// `static constexpr bool is_passed_by_value = true` (`attempts(3)` does).
template <class S>
concept value_strategy = inline_strategy<S> && std::copy_constructible<S> &&
                         requires { requires S::is_passed_by_value; };

/// What loops accept as an argument: a named strategy, or a value.
template <class Given>
concept strategy_argument =
    value_strategy<std::remove_cvref_t<Given>> ||
    (std::is_lvalue_reference_v<Given> && any_retry_strategy<std::remove_reference_t<Given>>);

namespace detail {

/// How a loop keeps its strategy: a copy of a value, a reference to everything else.
template <class Given>
using kept_strategy = std::conditional_t<
    value_strategy<std::remove_cvref_t<Given>>, std::remove_cvref_t<Given>,
    std::remove_reference_t<Given>&>;

/// A strategy as a loop keeps it, in one piece that can be passed on.
template <class Kept>
struct strategy_holder {
    Kept strategy;
};

/// Does not compile, with a sentence, unless `Given` can be the strategy of a loop.
template <class Given>
constexpr bool check_strategy() noexcept {
    static_assert(
        strategy_argument<Given> || !any_retry_strategy<std::remove_cvref_t<Given>>,
        "this strategy is shared by all calls of a client: give it a name and keep it, or write "
        "reprise::attempts(3), which is a value");
    static_assert(
        any_retry_strategy<std::remove_cvref_t<Given>>,
        "this is no retry strategy: start with reprise::attempts(3) or reprise::standard_strategy, "
        "or derive from reprise::retry_strategy");
    return strategy_argument<Given>;
}

/// Strategy instances are distinguished by a counter, never by address: a new object at an old
/// place must not accept the old one's tokens.
[[nodiscard]] REPRISE_EXPORT std::uint64_t next_issuer_id() noexcept;

/// Calls into a strategy that is allowed to throw; a throw gives `fallback`.
template <class Result, class Call>
[[nodiscard]] Result guarded(Result fallback, Call&& call) noexcept {
    if constexpr (noexcept(call())) {
        return call();
    } else {
        return result_or(std::move(fallback), std::forward<Call>(call));
    }
}

[[nodiscard]] inline decision strategy_failed() noexcept {
    return {refusal_reason::strategy_failed, -1};
}

/// The strategy's initial answer, `strategy_failed` if it throws.
template <class Strategy>
[[nodiscard]] decision begin_with(
    Strategy& strategy, token_state& token, const decision_context& at) noexcept {
    return guarded(strategy_failed(), [&]() noexcept(noexcept(strategy.begin(token, at))) {
        return strategy.begin(token, at);
    });
}

/// A success; what the strategy throws about it is ignored, since the request has succeeded.
template <class Strategy>
void succeed_with(
    Strategy& strategy, const token_state& token, const decision_context& at) noexcept {
    static_cast<void>(guarded(false, [&]() noexcept(noexcept(strategy.succeed(token, at))) {
        strategy.succeed(token, at);
        return true;
    }));
}

/// The budget that a strategy names; null: none.
template <class Strategy>
[[nodiscard]] retry_budget* budget_of(Strategy& strategy) noexcept {
    if constexpr (requires {
                      { strategy.paying_budget() } -> std::same_as<retry_budget*>;
                  }) {
        return strategy.paying_budget();
    } else {
        return nullptr;
    }
}

/// Asks an inline strategy. What it remembers travels in the action.
template <inline_strategy Strategy>
[[nodiscard]] retry_action ask(Strategy& strategy, const retry_question& question) noexcept {
    token_state token = question.token;
    const retry_action action = guarded(
        retry_action::no(refusal_reason::strategy_failed),
        [&]() noexcept(noexcept(strategy.retry_after(token, question))) {
            return strategy.retry_after(token, question);
        });
    return action.remembering(token.memory);
}

/// Asks through the virtual interface where nothing can wait for a late answer.
[[nodiscard]] REPRISE_EXPORT retry_action
ask(retry_strategy& strategy, const retry_question& question) noexcept;

}  // namespace detail

/// Gives a strategy its public, checked face: tokens instead of token states. Derive from it with
/// yourself as argument (`class my_strategy : public token_issuer<my_strategy>`).
template <class Derived>
class token_issuer {
public:
    token_issuer() noexcept : id_(detail::next_issuer_id()) {}
    token_issuer(const token_issuer&) = delete;
    token_issuer& operator=(const token_issuer&) = delete;

    /// Before the first attempt. Without a token make exactly one attempt.
    [[nodiscard]] token_result acquire_initial_token(const decision_context& at = {}) noexcept {
        token_state state;
        const decision why = detail::begin_with(self(), state, at);
        return why.allowed() ? token_result{retry_token{id_, state}, why}
                             : token_result{retry_token{}, why};
    }

    /// After a failed attempt. Uses `token` up whatever the answer; an invalid token changes
    /// nothing. The retry is admitted as in the loops, by the guide's rule for deadlines.
    [[nodiscard]] token_result refresh_token(
        retry_token& token, const retry_question& question) noexcept {
        if (!token.consume(id_)) {
            return {retry_token{}, decision{refusal_reason::invalid_token, -1}};
        }
        retry_question asked = question;
        asked.token = token.state_;
        retry_progress progress;
        progress.token() = token.state_;
        retry_limits limits;
        limits.deadline = question.deadline;
        limits.budget = detail::budget_of(self());
        const admission answer = progress.on_proposal(
            detail::ask(self(), asked), {.now = question.at.now, .facts = question.facts}, limits);
        const decision why{answer.refusal, answer.budget_level};
        return why.allowed() ? token_result{retry_token{id_, progress.token()}, why}
                             : token_result{retry_token{}, why};
    }

    /// After the attempt that succeeded. `std::errc::invalid_argument` for a token that is not this
    /// object's or was used before; the strategy then hears nothing.
    [[nodiscard]] std::errc record_success(
        retry_token& token, const decision_context& at = {}) noexcept {
        if (!token.consume(id_)) {
            return std::errc::invalid_argument;
        }
        detail::succeed_with(self(), token.state_, at);
        return std::errc{};
    }

protected:
    ~token_issuer() = default;

private:
    [[nodiscard]] Derived& self() noexcept { return static_cast<Derived&>(*this); }

    const std::uint64_t id_;
};

/// What a strategy says about itself, once.
struct strategy_traits {
    /// Pass real time and randomness also at the start and the success (windowed budgets need it).
    bool needs_time = false;
    /// Retries per request at most; absent when nothing but time limits them. Nested loops take
    /// their allowance from it.
    std::optional<std::uint32_t> retries_max{};
    /// Asked by loops before each attempt; null: none. Clients with breakers of their own, such as
    /// the Couchbase client, do not ask it. Must live as long as the strategy.
    circuit_breaker* circuit = nullptr;
    /// Observes the calls of this strategy in loops; null: nothing. Must live as long as the
    /// strategy.
    retry_observer* observer = nullptr;
};

/// The traits of any strategy; the defaults for one that does not say. As the strategy returns
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

/// The interface for plug-ins. Only `retry_after` must be overridden:
///
///     class impatient final : public reprise::retry_strategy {
///         void retry_after(
///             const reprise::retry_question&, reprise::retry_sink& sink) override {
///             sink.answer(reprise::retry_action::no());
///         }
///     };
///
/// Whatever an implementation throws is a refusal (`strategy_failed`): a plug-in cannot break a
/// loop.
class REPRISE_EXPORT retry_strategy : public token_issuer<retry_strategy> {
public:
    virtual ~retry_strategy();

    /// Answers one question about one failed attempt; must not block.
    virtual void retry_after(const retry_question& question, retry_sink& sink) = 0;
    /// A request starts. Fills in the token, or refuses. Grants a token without a delay unless
    /// overridden.
    virtual decision on_start(token_state& token, const decision_context& at);
    /// A request of this strategy succeeded, with or without retries: once for each. Does nothing
    /// unless overridden.
    virtual void on_success(const token_state& token, const decision_context& at);
    /// The budget that pays for the retries of this strategy, in place of the client's. Null unless
    /// overridden: the client's budget pays, if there is one.
    [[nodiscard]] virtual retry_budget* paying_budget() noexcept;

    /// Asks it; an exception becomes a failure of the sink with the exception's text.
    void ask(const retry_question& question, retry_sink& sink) noexcept;
    [[nodiscard]] decision begin(token_state& token, const decision_context& at) noexcept {
        return detail::guarded(detail::strategy_failed(), [&] { return on_start(token, at); });
    }
    void succeed(const token_state& token, const decision_context& at) noexcept {
        static_cast<void>(detail::guarded(false, [&] {
            on_success(token, at);
            return true;
        }));
    }
    [[nodiscard]] const strategy_traits& traits() const noexcept { return traits_; }

protected:
    explicit retry_strategy(strategy_traits traits = {}) noexcept : traits_(traits) {}
    /// Only from a constructor: the traits are constant while the strategy is in use.
    void set_traits(const strategy_traits& traits) noexcept { traits_ = traits; }

private:
    strategy_traits traits_;
};

/// Any inline strategy behind the virtual interface. Arguments construct the inner one.
template <inline_strategy S>
class virtual_strategy final : public retry_strategy {
public:
    template <class... Args>
        requires std::constructible_from<S, Args...>
    explicit virtual_strategy(Args&&... args) : inner_(std::forward<Args>(args)...) {
        set_traits(traits_of(inner_));
    }

    void retry_after(const retry_question& question, retry_sink& sink) override {
        token_state token = question.token;
        const retry_action action = inner_.retry_after(token, question);
        sink.answer(action.remembering(token.memory));
    }
    decision on_start(token_state& token, const decision_context& at) override {
        return inner_.begin(token, at);
    }
    void on_success(const token_state& token, const decision_context& at) override {
        inner_.succeed(token, at);
    }
    [[nodiscard]] retry_budget* paying_budget() noexcept override {
        return detail::budget_of(inner_);
    }

    [[nodiscard]] S& inner() noexcept { return inner_; }

private:
    S inner_;
};

}  // namespace reprise
