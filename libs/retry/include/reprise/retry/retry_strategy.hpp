#pragma once

/// The two forms of a retry strategy. The class `retry_strategy` is the interface for plug-ins and
/// for code that needs one type: loops and the Couchbase client take it, and it may answer later.
/// The concept `inline_strategy` is for strategies that answer at once, without virtual calls.
/// `virtual_strategy<S>` turns the second into the first.
///
/// ```
/// start        once per request, before the first attempt; refusing means one attempt, no retries
/// retry_after  after each failed attempt: proposes a delay, or refuses
/// success      after the attempt that succeeded, exactly once
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

#include <reprise/retry/detail/export.hpp>
#include <reprise/retry/driver/orchestrator.hpp>
#include <reprise/retry/driver/strategy_calls.hpp>
#include <reprise/retry/retry_sink.hpp>
#include <reprise/retry/token.hpp>

namespace reprise {

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
        const decision why = detail::begin_with(self(), state, at);
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
        driver::retry_progress progress;
        progress.resume(token.state_);
        driver::failed_attempt failed;
        failed.facts = question.facts;
        failed.failure = question.failure;
        failed.reason = question.reason;
        driver::request_terms terms;
        terms.limits.deadline = question.deadline;
        terms.repeat = question.repeat;
        terms.user_data = question.at.user_data;
        const driver::retry_step step =
            driver::orchestrator<Derived, detail::no_attachments>(self(), progress, {})
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
        detail::succeed_with(self(), token.state_, at);
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
///     class steady_beat final : public reprise::retry_strategy {
///         void retry_after(const reprise::retry_question& question, reprise::retry_sink& sink)
///         override {
///             const auto refusal = reprise::stated_safety{}.check(question.facts,
///             question.repeat); sink.answer(
///                 refusal == reprise::refusal_reason::none ? reprise::retry_action::after(1s)
///                                                          : reprise::retry_action::no(refusal));
///         }
///     };
/// ```
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
