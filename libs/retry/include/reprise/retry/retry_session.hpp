#pragma once

/// The decision core that all loops drive: blocking, Asio, coroutine, simulator. It knows the rules
/// and the trace; it knows no clock, no sleep, no thread.
///
///     begin(at) -> wait -> [attempt] -+- on_success(at)            finished
///                                     +- on_failure(facts, at) -> step
///                                              step.retry:  wait step.wait, attempt again
///                                              otherwise:   finished, return the last error

#include <optional>

#include <reprise/retry/call_options.hpp>
#include <reprise/retry/strategy.hpp>

namespace reprise {

/// What the driver must do next.
struct retry_step {
    bool retry = false;
    duration wait{};  ///< Before the next attempt (or the first, after `begin`).
    refusal_reason refusal = refusal_reason::none;
};

/// One request's way through a strategy. Not thread-safe; used by one driver.
template <retry_strategy Strategy>
class retry_session {
public:
    /// `strategy` and what `options` points to must outlive the session; `options` itself is only
    /// read here.
    retry_session(Strategy& strategy, const call_options& options) noexcept
        : strategy_(&strategy),
          traits_(traits_of(strategy)),
          repeat_(options.repeat),
          trace_(options.trace),
          observer_(options.observer),
          allowance_(traits_.retries_max, options.outer) {
        if (trace_ != nullptr) {
            trace_->clear();
        }
    }
    retry_session(const retry_session&) = delete;
    retry_session& operator=(const retry_session&) = delete;

    /// True if `begin` and `on_success` need the real time and randomness.
    [[nodiscard]] bool wants_moment() const noexcept { return traits_.wants_moment; }

    /// Sets the time after which no retry may start. Before `on_failure`.
    void set_deadline(time_point deadline) noexcept { deadline_ = deadline; }
    [[nodiscard]] time_point deadline() const noexcept { return deadline_; }

    /// Asks for the initial token and returns the delay before the first attempt. Without a token
    /// there is no delay and there will be no retry.
    [[nodiscard]] duration begin(const moment& at) noexcept {
        granted_ = detail::guarded([&]() noexcept(noexcept(strategy_->begin(token_, at))) {
            return strategy_->begin(token_, at);
        });
        return granted_.allowed() ? at_least_zero(token_.delay) : duration::zero();
    }

    /// The running attempt succeeded. At most once.
    void on_success(const moment& at) noexcept {
        if (granted_.allowed()) {
            static_cast<void>(
                detail::guarded([&]() noexcept(noexcept(strategy_->succeed(token_, at))) {
                    strategy_->succeed(token_, at);
                    return decision{};
                }));
        }
    }

    /// The running attempt failed. `canceled` says that the caller has asked to stop; `failure` is
    /// shown to the strategy.
    [[nodiscard]] retry_step on_failure(
        const failure_facts& facts, const moment& at, bool canceled = false,
        failure_view failure = {}) noexcept {
        const std::uint32_t failed = token_.attempt;
        const decision answer = decide(facts, at, canceled, failure);
        const duration wait = answer.allowed() ? at_least_zero(token_.delay) : duration::zero();
        tell(failed, facts, at.now, answer, wait);
        return {answer.allowed(), wait, answer.refusal};
    }

    /// The wait before the next attempt was interrupted by the caller: that attempt is not made.
    void on_canceled_wait(const moment& at) noexcept {
        tell(
            token_.attempt, failure_facts{}, at.now, decision{refusal_reason::canceled, -1},
            duration::zero(), false);
    }

    /// The number of the attempt to make now; the first is 1.
    [[nodiscard]] std::uint32_t attempt_number() const noexcept { return token_.attempt; }
    [[nodiscard]] retry_allowance& allowance() noexcept { return allowance_; }

private:
    [[nodiscard]] decision decide(
        const failure_facts& facts, const moment& at, bool canceled,
        failure_view failure) noexcept {
        if (canceled) {
            return {refusal_reason::canceled, -1};
        }
        if (!granted_.allowed()) {
            return {refusal_reason::no_initial_token, -1};
        }
        // The nest's allowance is asked before the strategy, so that no budget is charged for a
        // retry that will not happen. A loop that has merely made its own attempts goes on to the
        // strategy, which refuses with the better reason.
        const bool reserved = allowance_.try_take();
        if (!reserved && !own_retries_used_up()) {
            return {refusal_reason::outer_allowance, -1};
        }
        const retry_question question{facts, at, deadline_, repeat_, failure};
        decision answer =
            detail::guarded([&]() noexcept(noexcept(strategy_->refresh(token_, question))) {
                return strategy_->refresh(token_, question);
            });
        if (answer.allowed() && deadline_ != no_deadline &&
            add_saturated(at.now, at_least_zero(token_.delay)) >= deadline_) {
            answer.refusal = refusal_reason::deadline;  // A strategy that looks at no deadline.
        }
        if (answer.allowed() && !reserved) {
            answer.refusal = refusal_reason::outer_allowance;
        }
        if (answer.allowed()) {
            ++own_retries_;
        } else if (reserved) {
            allowance_.give_back();
        }
        return answer;
    }

    [[nodiscard]] bool own_retries_used_up() const noexcept {
        return traits_.retries_max && own_retries_ >= *traits_.retries_max;
    }

    void tell(
        std::uint32_t failed, const failure_facts& facts, time_point now, const decision& answer,
        duration wait, bool attempted = true) noexcept {
        if (trace_ == nullptr && observer_ == nullptr) {
            return;
        }
        if (!first_failure_) {
            first_failure_ = now;
        }
        const trace_entry entry{failed,        facts.code,          now - *first_failure_,
                                wait,          answer.budget_level, answer.refusal,
                                facts.timeout, facts.throttling,    attempted};
        if (trace_ != nullptr) {
            trace_->record(entry);
        }
        if (observer_ != nullptr) {
            observer_->on_decision(entry);
        }
    }

    Strategy* strategy_;
    strategy_traits traits_;
    token_state token_{};
    decision granted_{};
    time_point deadline_ = no_deadline;
    repeatability repeat_;
    decision_trace* trace_;
    decision_observer* observer_;
    retry_allowance allowance_;
    std::uint32_t own_retries_ = 0;
    std::optional<time_point> first_failure_;
};

}  // namespace reprise
