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

#include <reprise/retry/detail/compiler.hpp>
#include <reprise/retry/driver/orchestrator.hpp>
#include <reprise/retry/driver/retry_sink.hpp>
#include <reprise/retry/driver/strategy_calls.hpp>
#include <reprise/retry/driver/token.hpp>

namespace reprise {

/// The interface for plug-ins. Only `retry_after` must be overridden:
/// ```
///     namespace driver = reprise::driver;
///     ...
///     class steady_beat final : public reprise::retry_strategy {
///         void retry_after(
///             const driver::retry_question& question, driver::retry_sink& sink) override {
///             const auto refusal = reprise::stated_safety{}.check(question);
///             sink.answer(
///                 refusal == reprise::refusal_reason::none ? driver::retry_action::after(1s)
///                                                          : driver::retry_action::no(refusal));
///         }
///     };
/// ```
/// Whatever an implementation throws is a refusal (`strategy_failed`): a plug-in cannot break a
/// loop.
class REPRISE_EXPORT retry_strategy : public driver::token_issuer<retry_strategy> {
public:
    virtual ~retry_strategy();

    /// Answers one question about one failed attempt; must not block.
    virtual void retry_after(const driver::retry_question& question, driver::retry_sink& sink) = 0;
    /// A request starts. Fills in the token, or refuses. Grants a token without a delay unless
    /// overridden.
    virtual driver::decision on_start(
        driver::token_state& token, const driver::decision_context& at);
    /// A request of this strategy succeeded, with or without retries: once for each. Does nothing
    /// unless overridden.
    virtual void on_success(const driver::token_state& token, const driver::decision_context& at);
    /// The budget that pays for the retries of this strategy, in place of the client's. Null unless
    /// overridden: the client's budget pays, if there is one.
    [[nodiscard]] virtual retry_budget* paying_budget() noexcept;

    /// Asks it; an exception becomes a failure of the sink with the exception's text.
    void ask(const driver::retry_question& question, driver::retry_sink& sink) noexcept;
    [[nodiscard]] driver::decision begin(
        driver::token_state& token, const driver::decision_context& at) noexcept;
    void succeed(const driver::token_state& token, const driver::decision_context& at) noexcept;
    [[nodiscard]] const driver::strategy_traits& traits() const noexcept { return traits_; }

protected:
    explicit retry_strategy(driver::strategy_traits traits = {}) noexcept : traits_(traits) {}
    /// Only from a constructor: the traits are constant while the strategy is in use.
    void set_traits(const driver::strategy_traits& traits) noexcept { traits_ = traits; }

private:
    driver::strategy_traits traits_;
};

/// Any inline strategy behind the virtual interface. Arguments construct the inner one.
template <driver::inline_strategy S>
class virtual_strategy final : public retry_strategy {
public:
    template <class... Args>
        requires std::constructible_from<S, Args...>
    explicit virtual_strategy(Args&&... args) : inner_(std::forward<Args>(args)...) {
        set_traits(driver::traits_of(inner_));
    }

    void retry_after(const driver::retry_question& question, driver::retry_sink& sink) override {
        driver::token_state token = question.token;
        const driver::retry_action action = inner_.retry_after(token, question);
        sink.answer(action.remembering(token.memory));
    }
    driver::decision on_start(
        driver::token_state& token, const driver::decision_context& at) override {
        return inner_.begin(token, at);
    }
    void on_success(const driver::token_state& token, const driver::decision_context& at) override {
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
