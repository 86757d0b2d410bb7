#pragma once

/// The two forms of a retry strategy. The class `retry_strategy` is the interface for plug-ins and
/// for code that needs one type: loops and the Couchbase client take it, and it may answer later.
/// The concept `inline_strategy` is for strategies that answer at once, without virtual calls.
/// `driver::virtual_strategy<S>` turns the second into the first.
///
/// ```
/// on_start     once per request, before the first attempt; refusing means one attempt, no retries
/// retry_after  after each failed attempt: proposes a delay, or refuses
/// on_success   after the attempt that succeeded, exactly once
/// ```
///
/// A strategy proposes, and names the budget that pays. `admit` then checks deadline, allowance and
/// budget, and charges them, for all strategies (`driver/admission.hpp`).
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

#include <reprise/retry/detail/compiler.hpp>
#include <reprise/retry/driver/orchestrator.hpp>
#include <reprise/retry/driver/retry_question.hpp>
#include <reprise/retry/driver/strategy_calls.hpp>

/// Retry tokens: the state of one request between its attempts.
///
///     acquire_initial_token -> [wait delay] attempt 1 -+- success -> record_success(token)
///                                                      +- failure -> refresh_token(token) -> ...
///
/// A token is used up by the call it is passed to. Passing it again, or to another strategy object,
/// is refused as an invalid argument, also when two threads try at the same time.
///
/// Tokens only decide about retries. A strategy's circuit breaker and observer belong to the whole
/// call: `retry_session` asks and notifies them.

namespace reprise::driver {

/// Move-only, 32 bytes. A moved-from or used token is invalid.
class retry_token {
public:
    retry_token() noexcept = default;
    retry_token(retry_token&& other) noexcept
        : issuer_(other.issuer_.exchange(0, std::memory_order_acq_rel)), state_(other.state_) {}
    retry_token& operator=(retry_token&& other) noexcept {
        if (this != &other) {
            issuer_.store(
                other.issuer_.exchange(0, std::memory_order_acq_rel), std::memory_order_release);
            state_ = other.state_;
        }
        return *this;
    }
    retry_token(const retry_token&) = delete;
    retry_token& operator=(const retry_token&) = delete;
    ~retry_token() = default;

    /// The wait before the attempt. The initial token may carry a delay, too.
    [[nodiscard]] duration delay() const noexcept { return state_.delay; }
    /// The number of the attempt that this token is for; the first is 1.
    [[nodiscard]] std::uint32_t attempt() const noexcept { return state_.attempt; }
    /// False once used, moved from, or default-constructed.
    [[nodiscard]] bool is_valid() const noexcept {
        return issuer_.load(std::memory_order_acquire) != 0;
    }

private:
    template <class Derived>
    friend class token_issuer;

    retry_token(std::uint64_t issuer, const token_state& state) noexcept
        : issuer_(issuer), state_(state) {}

    /// Uses the token up if `issuer` issued it. Of several threads exactly one succeeds.
    [[nodiscard]] bool consume(std::uint64_t issuer) noexcept {
        std::uint64_t expected = issuer;
        return issuer_.compare_exchange_strong(
            expected, 0, std::memory_order_acq_rel, std::memory_order_relaxed);
    }

    std::atomic<std::uint64_t> issuer_{0};
    token_state state_{};
};

static_assert(sizeof(retry_token) <= 32);

/// A token, or the reason why there is none.
struct token_result {
    retry_token token{};
    decision why{};

    explicit operator bool() const noexcept { return token.is_valid(); }
    /// The token passed in was not this strategy's, or had been used before.
    [[nodiscard]] bool is_invalid_argument() const noexcept {
        return why.refusal == refusal_reason::invalid_token;
    }
};

/// CRTP base that adds the checked token API:
/// `class my_strategy : public token_issuer<my_strategy>`.
template <class Derived>
class token_issuer {
public:
    token_issuer() noexcept : id_(detail::next_issuer_id()) {}
    token_issuer(const token_issuer&) = delete;
    token_issuer& operator=(const token_issuer&) = delete;

    /// Before the first attempt. Without a token make exactly one attempt.
    [[nodiscard]] token_result acquire_initial_token(const decision_context& at = {}) noexcept {
        token_state state;
        const decision why = detail::report_start(self(), state, at);
        return why.allowed() ? token_result{retry_token{id_, state}, why}
                             : token_result{retry_token{}, why};
    }

    /// After a failed attempt. Uses `token` up whatever the answer; an invalid token changes
    /// nothing. The retry is admitted as in the loops.
    [[nodiscard]] token_result refresh_token(
        retry_token& token, const retry_question& question) noexcept {
        if (!token.consume(id_)) {
            return {retry_token{}, decision{refusal_reason::invalid_token, -1}};
        }
        retry_progress progress;
        progress.resume(token.state_);
        failed_attempt failed;
        failed.facts = question.facts;
        failed.failure = question.failure;
        failed.reason = question.reason;
        failed.is_noted = question.is_noted;
        failed.is_assumed = question.is_assumed;
        request_terms terms;
        terms.limits.deadline = question.deadline;
        terms.repeat = question.repeat;
        terms.user_data = question.at.user_data;
        const retry_step step = orchestrator<Derived, detail::no_attachments>(self(), progress, {})
                                    .on_failure(failed, terms, question.at);
        const decision why{step.refusal, step.budget_level};
        return why.allowed() ? token_result{retry_token{id_, progress.token()}, why}
                             : token_result{retry_token{}, why};
    }

    /// After the attempt that succeeded. `std::errc::invalid_argument` for a token that is not this
    /// object's or was used before; the strategy is then not notified.
    [[nodiscard]] std::errc record_success(
        retry_token& token, const decision_context& at = {}) noexcept {
        if (!token.consume(id_)) {
            return std::errc::invalid_argument;
        }
        detail::report_success(self(), token.state_, at);
        return std::errc{};
    }

protected:
    ~token_issuer() = default;

private:
    [[nodiscard]] Derived& self() noexcept { return static_cast<Derived&>(*this); }

    const std::uint64_t id_;
};

/// The interface for plug-ins. Only `retry_after` must be overridden:
/// ```
///     namespace driver = reprise::driver;
///     ...
///     class steady_beat final : public reprise::driver::retry_strategy {
///         void retry_after(
///             const driver::retry_question& question, driver::retry_sink& sink) override {
///             const auto refusal = reprise::driver::stated_safety{}.check(question);
///             sink.answer(
///                 refusal == reprise::refusal_reason::none ? driver::retry_action::after(1s)
///                                                          : driver::retry_action::no(refusal));
///         }
///     };
/// ```
/// An exception from an implementation counts as a refusal (`strategy_failed`), so a plug-in cannot
/// break a loop.
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
    /// One of several attempts of a hedged call has failed, and the others may still succeed. True
    /// if the call must not be retried after this failure, whatever the others do. `retry_after`
    /// follows for one of them, with `is_noted` set. False unless overridden; a stated
    /// `retry_safety::no` is final in any case.
    virtual bool note_failure(const retry_question& question);
    /// The pause that the failure of one of several attempts asks for: no other attempt of a hedged
    /// call is added before, and none of its failures forgets it. That of the facts unless
    /// overridden, for strategies that know failures which the loop does not.
    [[nodiscard]] virtual std::optional<duration> minimum_wait(const retry_question& question);
    /// The budget that pays for the retries of this strategy, in place of the client's. Null unless
    /// overridden: the client's budget pays, if there is one. Loops charge it and return what a
    /// retry that is not made has cost. The strategy itself reports everything else to it: requests
    /// in `on_start`, failures in `retry_after` and `note_failure`, successes in `on_success`.
    [[nodiscard]] virtual retry_budget* paying_budget() noexcept;

    /// Calls `retry_after`; an exception becomes a failure of the sink with the exception's text.
    void ask(const retry_question& question, retry_sink& sink) noexcept;
    [[nodiscard]] const strategy_traits& traits() const noexcept { return traits_; }

protected:
    explicit retry_strategy(strategy_traits traits = {}) noexcept : traits_(traits) {}
    /// Only from a constructor: the traits are constant while the strategy is in use.
    void set_traits(const strategy_traits& traits) noexcept { traits_ = traits; }

private:
    friend decision detail::report_virtual_start(
        driver::retry_strategy& strategy, driver::token_state& token,
        const driver::decision_context& at) noexcept;
    friend void detail::report_virtual_success(
        driver::retry_strategy& strategy, const driver::token_state& token,
        const driver::decision_context& at) noexcept;

    /// `on_start` and `on_success` without exceptions: what they throw ends here. Virtual so that
    /// a strategy that throws nothing is reached with one call.
    [[nodiscard]] virtual decision guarded_start(
        token_state& token, const decision_context& at) noexcept;
    virtual void guarded_success(const token_state& token, const decision_context& at) noexcept;

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
        return inner_.on_start(token, at);
    }
    void on_success(const token_state& token, const decision_context& at) override {
        inner_.on_success(token, at);
    }
    bool note_failure(const retry_question& question) override {
        return detail::note_failure(inner_, question);
    }
    [[nodiscard]] std::optional<duration> minimum_wait(const retry_question& question) override {
        return detail::minimum_wait_of(inner_, question);
    }
    [[nodiscard]] retry_budget* paying_budget() noexcept override {
        return detail::budget_of(inner_);
    }

    [[nodiscard]] S& inner() noexcept { return inner_; }

private:
    decision guarded_start(token_state& token, const decision_context& at) noexcept override {
        return detail::report_start(inner_, token, at);
    }
    void guarded_success(const token_state& token, const decision_context& at) noexcept override {
        detail::report_success(inner_, token, at);
    }

    S inner_;
};

}  // namespace reprise::driver

namespace reprise::detail {

inline driver::decision report_virtual_start(
    driver::retry_strategy& strategy, driver::token_state& token,
    const driver::decision_context& at) noexcept {
    return strategy.guarded_start(token, at);
}

inline void report_virtual_success(
    driver::retry_strategy& strategy, const driver::token_state& token,
    const driver::decision_context& at) noexcept {
    strategy.guarded_success(token, at);
}

}  // namespace reprise::detail
