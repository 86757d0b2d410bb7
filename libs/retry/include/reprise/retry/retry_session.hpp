#pragma once

/// One request's way through one strategy, as all loops drive it: blocking, Asio, coroutine, lab.
/// It asks the strategy, has the answer admitted (`retry_progress`) and records it; it knows no
/// clock, no sleep, no thread.
///
///     begin(at) -> wait -> try_start_attempt(at)                   false: finished, not attempted
///                       -> [attempt] -+- on_success(at)            finished
///                                     +- on_failure(facts, at) -> step
///                                          step.is_retry:    wait step.wait, attempt again
///                                          step.is_deferred: wait for answer_stop(), on_answer(at)
///                                          otherwise:        finished, return the last error

#include <concepts>
#include <memory>
#include <optional>
#include <stop_token>
#include <type_traits>

#include <reprise/retry/call_options.hpp>
#include <reprise/retry/detail/call_observation.hpp>
#include <reprise/retry/late_answer.hpp>
#include <reprise/retry/retry_strategy.hpp>

namespace reprise {

/// What the driver must do next.
struct retry_step {
    bool is_retry = false;
    bool is_deferred = false;  ///< The strategy will answer later.
    duration wait{};           ///< Before the next attempt (or the first, after `begin`).
    refusal_reason refusal = refusal_reason::none;
};

namespace detail {

/// True if a call has a breaker, an observer or a tracer. Most have none.
[[nodiscard]] inline bool has_attachments(
    const strategy_traits& traits, const call_options& options) noexcept {
    return traits.circuit != nullptr || traits.observer != nullptr || options.observer != nullptr ||
           options.tracer != nullptr;
}

}  // namespace detail

/// Not thread-safe; used by one driver. `IsPlain` leaves out breakers, observers and tracers, for
/// drivers that know that a call has none: the compiler can then keep the session in registers.
template <any_retry_strategy Strategy, bool IsPlain = false>
class retry_session {
public:
    /// `strategy`, `options` and what they point to must outlive the session. Most requests succeed
    /// at once, so nothing is prepared here that only a failure needs.
    retry_session(Strategy& strategy, const call_options& options) noexcept
        : retry_session(strategy, options, traits_of(strategy)) {}
    retry_session(Strategy& strategy, call_options&& options) = delete;
    retry_session(const retry_session&) = delete;
    retry_session& operator=(const retry_session&) = delete;

    /// True if `begin` and `on_success` need the real time and randomness.
    [[nodiscard]] bool needs_time() const noexcept { return needs_time_; }

    /// Sets the time after which no retry may start. Before `on_failure`.
    void set_deadline(time_point deadline) noexcept { deadline_ = deadline; }
    [[nodiscard]] time_point deadline() const noexcept { return deadline_; }

    /// Asks for the initial token and returns the delay before the first attempt. Without a token
    /// there is no delay and there will be no retry.
    [[nodiscard]] duration begin(const decision_context& at) noexcept {
        if (attached_) {
            attached_->observation.on_start(at.now);
        }
        progress_.on_start(detail::begin_with(*strategy_, progress_.token(), at));
        return progress_.is_granted() ? at_least_zero(progress_.token().delay) : duration::zero();
    }

    /// Before each attempt. False: the strategy's circuit breaker is open, and the attempt must not
    /// be made. A driver need not ask if it supports neither breakers nor observers.
    [[nodiscard]] bool try_start_attempt(const decision_context& at) noexcept {
        if (!attached_) {
            return true;
        }
        if (attached_->breaker != nullptr) {
            attached_->permit = attached_->breaker->try_acquire(at.now);
        }
        if (attached_->permit == breaker_permit::refused) {
            record_unattempted(refusal_reason::circuit_open, at.now);
            return false;
        }
        start_attempt();
        return true;
    }

    /// Instead of `try_start_attempt`, for a driver that could not return without an attempt: the
    /// circuit breaker is not asked, but it hears how the attempt ended.
    void start_attempt() noexcept {
        if (attached_) {
            attached_->observation.on_attempt(attempt_number());
        }
    }

    /// The running attempt succeeded. At most once.
    void on_success(const decision_context& at) noexcept {
        if (progress_.is_granted()) [[likely]] {
            detail::succeed_with(*strategy_, progress_.token(), at);
        }
        if (attached_) {
            attached_->on_success(at.now);
        }
    }

    /// The running attempt failed. `is_canceled` says that the caller has asked to stop; `failure`
    /// is shown to the strategy and to observers, and must live until the next attempt starts.
    [[nodiscard]] retry_step on_failure(
        const failure_facts& facts, const decision_context& at, bool is_canceled = false,
        failure_view failure = {}) noexcept {
        facts_ = facts;
        if (attached_) {
            attached_->on_failure(facts, failure, is_canceled, at.now);
        }
        if (is_canceled) {
            return refuse(refusal_reason::canceled, at.now);
        }
        if (!progress_.is_granted()) {
            return refuse(refusal_reason::no_initial_token, at.now);
        }
        retry_question question;
        question.facts = facts;
        question.at = at;
        question.deadline = deadline_;
        question.repeat = options_->repeat;
        question.failure = failure;
        question.retry_attempts = progress_.retries();
        question.token = progress_.token();
        if constexpr (std::derived_from<Strategy, retry_strategy>) {
            late_.reset();
            retry_sink sink(&retry_session::make_late_answer, this);
            strategy_->ask(question, sink);
            if (sink.current() == retry_sink::state::deferred) {
                return {.is_deferred = true};
            }
            return conclude(sink.action(), at.now);
        } else {
            return conclude(detail::ask(*strategy_, question), at.now);
        }
    }

    /// After a deferred step: stops when the answer is there, or when the caller asked to stop.
    [[nodiscard]] std::stop_token answer_stop() const noexcept { return late_->stop(); }
    /// The wait for a late answer is over, whatever ended it.
    [[nodiscard]] retry_step on_answer(time_point now, bool is_canceled) noexcept {
        const late_answer::result answer = late_->take();
        late_.reset();
        if (is_canceled) {
            return refuse(refusal_reason::canceled, now);
        }
        if (!answer.is_there) {
            return refuse(refusal_reason::deadline, now);
        }
        return conclude(answer.action, now);
    }

    /// The running attempt takes long, and the driver wants another one beside it (hedging).
    /// Admitted, counted and paid for like a retry. True: start attempt `attempt_number()`; what is
    /// reported afterwards is the outcome of all that run.
    [[nodiscard]] bool admit_hedge(const decision_context& at) noexcept {
        const std::uint32_t running = attempt_number();
        facts_.emplace();
        const admission answer = progress_.on_proposal(propose_hedge(), {.now = at.now}, limits());
        record(running, at.now, answer, false, true);
        if (attached_ && answer.is_admitted()) {
            attached_->observation.on_hedge(attempt_number());
        }
        return answer.is_admitted();
    }
    /// One of several attempts that run at the same time has ended, for observers. `is_lost` says
    /// that another one was better.
    void on_one_ended(
        std::uint32_t number, const std::optional<failure_facts>& failure, bool is_lost) noexcept {
        if (attached_) {
            attached_->observation.on_one_ended(number, failure ? &*failure : nullptr, is_lost);
        }
    }

    /// The caller asked to stop during the delay before the first attempt, which is not made.
    void on_canceled_start(time_point now) noexcept { end(refusal_reason::canceled, now); }

    /// The wait before the next attempt was interrupted by the caller: that attempt is not made.
    void on_canceled_wait(time_point now) noexcept {
        record_unattempted(refusal_reason::canceled, now);
    }

    /// The number of the attempt to make now; the first is 1.
    [[nodiscard]] std::uint32_t attempt_number() const noexcept { return progress_.retries() + 1; }
    [[nodiscard]] retry_allowance& allowance() noexcept { return allowance_; }

private:
    retry_session(
        Strategy& strategy, const call_options& options, const strategy_traits& traits) noexcept
        : strategy_(&strategy),
          options_(&options),
          needs_time_(traits.needs_time),
          allowance_(traits.retries_max, options.outer_allowance) {
        if (options.history != nullptr) {
            options.history->clear();
        }
        if constexpr (!IsPlain) {
            if (detail::has_attachments(traits, options)) [[unlikely]] {
                attached_ = std::make_unique<detail::call_attachments>(
                    traits.circuit, options, traits.observer);
                needs_time_ = true;
            }
        }
    }

    static std::shared_ptr<answer_channel> make_late_answer(void* session) {
        auto* const self = static_cast<retry_session*>(session);
        self->late_ = std::make_shared<late_answer>(self->options_->stop);
        return self->late_;
    }

    [[nodiscard]] retry_step refuse(refusal_reason why, time_point now) noexcept {
        admission answer;
        answer.refusal = why;
        record(attempt_number(), now, answer, true);
        end(why, now);
        return {.refusal = why};
    }

    [[nodiscard]] retry_step conclude(
        const std::optional<retry_action>& action, time_point now) noexcept {
        const std::uint32_t failed = attempt_number();
        retry_action proposed = action.value_or(retry_action::no(refusal_reason::strategy_failed));
        if (attached_ && attached_->breaker != nullptr && proposed.is_retry() &&
            !attached_->breaker->would_allow(add_saturated(now, *proposed.delay()))) {
            proposed = retry_action::no(refusal_reason::circuit_open);
        }
        const admission answer =
            progress_.on_proposal(proposed, {.now = now, .facts = *facts_}, limits());
        record(failed, now, answer, true);
        if (!answer.is_admitted()) {
            end(answer.refusal, now);
        }
        return {.is_retry = answer.is_admitted(), .wait = answer.delay, .refusal = answer.refusal};
    }

    [[nodiscard]] retry_action propose_hedge() const noexcept {
        const circuit_breaker* const breaker = attached_ ? attached_->breaker : nullptr;
        if (breaker != nullptr && breaker->state() != breaker_state::closed) {
            return retry_action::no(refusal_reason::circuit_open);
        }
        return progress_.is_granted() ? retry_action::after(duration::zero())
                                      : retry_action::no(refusal_reason::no_initial_token);
    }

    [[nodiscard]] retry_limits limits() noexcept {
        retry_limits result;
        result.deadline = deadline_;
        result.allowance = &allowance_;
        result.budget = detail::budget_of(*strategy_);
        return result;
    }

    /// An attempt that is not made.
    void record_unattempted(refusal_reason why, time_point now) noexcept {
        admission answer;
        answer.refusal = why;
        facts_.emplace();
        record(attempt_number(), now, answer, false);
        end(why, now);
    }

    /// The call ends without a success.
    void end(refusal_reason why, time_point now) noexcept {
        if (attached_) {
            attached_->observation.on_completion(
                {.refusal = why, .last_error = attached_->failure}, now);
        }
    }

    void record(
        std::uint32_t failed, time_point now, const admission& answer, bool is_attempt,
        bool is_hedge = false) noexcept {
        const bool is_observed = attached_ && attached_->observation.has_observers();
        retry_history* const history = options_->history;
        if (history == nullptr && !is_observed) {
            return;
        }
        if (!first_failure_) {
            first_failure_ = now;
        }
        history_entry entry;
        entry.set_attempt(failed);
        entry.set_code(facts_->code);
        entry.set_offset(now - *first_failure_);
        entry.set_delay(answer.delay);
        entry.set_budget_level(answer.budget_level);
        entry.set_refusal(answer.refusal);
        entry.set_facts(facts_->timeout, facts_->throttling);
        entry.set_is_attempt(is_attempt);
        if (is_hedge) {
            entry.set_is_hedge();
        }
        if (history != nullptr) {
            entry.set_category(history->index_of(facts_->category));
            history->record(entry);
        }
        if (is_observed) {
            attached_->observation.on_decision(entry);
        }
    }

    Strategy* strategy_;
    const call_options* options_;
    bool needs_time_;
    time_point deadline_ = no_deadline;
    retry_progress progress_{};
    std::optional<failure_facts> facts_;  // of the attempt that failed last; absent before
    retry_allowance allowance_;
    std::shared_ptr<late_answer> late_;
    std::optional<time_point> first_failure_;
    // Null for most calls.
    std::conditional_t<IsPlain, detail::no_attachments, std::unique_ptr<detail::call_attachments>>
        attached_;
};

}  // namespace reprise
