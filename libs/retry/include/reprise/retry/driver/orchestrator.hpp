#pragma once

/// Decides about the retries of one request. The blocking loop, the Asio loops, the token API, the
/// Couchbase client, the simulation and the lab all drive this class. It reads no clock, waits
/// nowhere and allocates nothing.
///
/// ```
/// begin -> wait -> try_start_attempt -> [attempt] -+- on_success
///                         ^                        +- on_failure -> step
///                         |                               |
///                         |        +--- on_answer <-- deferred: wait for the answer
///                         |        v                      |
///                         +------ retry: wait             give up: report the last error
///                                 (capped and woken: on_woken first)
/// ```
///
/// The decisions about a failed attempt, in this order; the first 'no' ends the request:
///
/// ```
/// 1. has the caller canceled?
/// 2. the protocol's rule: never retry; or retry in any case (steps 3 to 5 are skipped)
/// 3. was an initial token granted?
/// 4. what does the strategy propose?
/// 5. may the call be executed twice, would the circuit breaker allow the attempt?
/// 6. is the retry admitted: safety, bound, deadline, allowance, budget (`admission.hpp`)
/// ```

#include <any>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <system_error>
#include <type_traits>
#include <utility>

#include <reprise/retry/detail/call_observation.hpp>
#include <reprise/retry/driver/admission.hpp>
#include <reprise/retry/driver/retry_question.hpp>
#include <reprise/retry/driver/strategy_calls.hpp>
#include <reprise/retry/retry_history.hpp>

namespace reprise::driver {

/// The protocol's own rule for a failed attempt, applied before any strategy is asked. The default:
/// the strategy decides.
class protocol_rule {
public:
    constexpr protocol_rule() noexcept = default;
    /// Not retried, whatever a strategy would answer.
    [[nodiscard]] static constexpr protocol_rule never(refusal_reason why) noexcept {
        protocol_rule rule;
        rule.kind_ = kind::never;
        rule.refusal_ = why;
        return rule;
    }
    /// Retried without asking a strategy and without being paid for.
    [[nodiscard]] static constexpr protocol_rule always(duration delay) noexcept {
        protocol_rule rule;
        rule.kind_ = kind::always;
        rule.delay_ = delay;
        return rule;
    }

    [[nodiscard]] constexpr bool is_never() const noexcept { return kind_ == kind::never; }
    [[nodiscard]] constexpr bool is_always() const noexcept { return kind_ == kind::always; }
    [[nodiscard]] constexpr refusal_reason refusal() const noexcept { return refusal_; }
    [[nodiscard]] constexpr duration delay() const noexcept { return delay_; }

private:
    enum class kind : std::uint8_t { ask_strategy, never, always };

    duration delay_{};
    kind kind_ = kind::ask_strategy;
    refusal_reason refusal_ = refusal_reason::none;
};

/// A failed attempt, as its driver describes it.
struct failed_attempt {
    failure_facts facts{};
    /// The failure itself, for strategies and observers. Must live until the next attempt starts.
    failure_view failure{};
    failure_reason reason{};               ///< Empty outside of a client.
    std::optional<attempt_stage> stage{};  ///< Absent in loops, which do not look into an attempt.
    protocol_rule rule{};
    /// The retry needs a waiting place even without a delay.
    bool needs_place = false;
    bool is_canceled = false;  ///< The caller has asked to stop.
    /// One of several attempts that ran at the same time, and reported by `on_one_failed` before.
    bool is_noted = false;
    /// The facts have a safety that the failure does not state: the attempt was cut short.
    bool is_assumed = false;
    /// It had reached its time limit: evidence about the service, also if the caller has canceled
    /// it meanwhile.
    bool reached_limit = false;
    std::uint32_t number = 0;  ///< Of the attempt; 0: the one that started last.
};

/// The driver's next step.
struct retry_step {
    bool is_retry = false;
    bool is_deferred = false;  ///< The strategy will answer later.
    /// The wait ends at the deadline; the retry is made, and paid for, only if it is woken before.
    bool is_capped = false;
    refusal_reason refusal = refusal_reason::none;
    duration wait{};  ///< Before the next attempt.
    /// The budget's level in milli-units after the decision; negative: no budget was asked.
    std::int64_t budget_level = -1;
    // Not a `std::error_code`: constructing one calls a function.
    const std::error_category* error_category = nullptr;
    int error_value = 0;

    /// The error that the strategy named in place of the operation's own; zero if it named none.
    [[nodiscard]] std::error_code error() const noexcept {
        return error_category == nullptr ? std::error_code()
                                         : std::error_code(error_value, *error_category);
    }
};

/// Receives every decision, for histories and logs. May complete the entry.
class REPRISE_EXPORT decision_recorder {
public:
    virtual void record(
        retry_history::entry& entry, const failed_attempt& failed,
        const retry_step& step) noexcept = 0;

protected:
    ~decision_recorder() = default;
};

/// Receives late answers. Without a channel, a strategy that defers has failed.
struct answer_route {
    retry_sink::channel_maker make_channel = nullptr;
    void* driver = nullptr;
    decision_ticket ticket{};
};

/// The terms of a request, apart from its strategy. For one call of the orchestrator, during
/// which what it points to must live.
struct request_terms {
    request_terms() noexcept {}  // Not defaulted: GCC would clear all of it first.

    time_point started{};  ///< Offsets in histories count from here.
    repeatability repeat = repeatability::unspecified;
    const std::any* user_data = nullptr;
    /// `budget` pays unless the strategy names a budget of its own.
    retry_limits limits{};
    answer_route answers{};
    decision_recorder* recorder = nullptr;    ///< Null: nothing is recorded.
    std::string* strategy_failure = nullptr;  ///< Receives why the strategy failed; may be null.
};

/// A view of one request: constructed where it is needed, around the request's progress. Not
/// thread-safe. `Attached` is `detail::call_attachments*`, or `detail::no_attachments` for requests
/// that are known to have neither breaker nor observers: the compiler can then leave out all of it.
template <any_retry_strategy Strategy, class Attached = detail::call_attachments*>
class orchestrator {
public:
    orchestrator(Strategy& strategy, retry_progress& progress, Attached attached) noexcept
        : strategy_(strategy), progress_(progress), attached_(attached) {}

    /// Asks for the initial token and returns the delay before the first attempt. Without a token
    /// there is no delay and there will be no retry.
    [[nodiscard]] duration on_start(const decision_context& at) noexcept {
        if (attached_) {
            attached_->observation.on_start(at.now);
        }
        if (only_answers()) {
            progress_.on_start({});
            return duration::zero();
        }
        progress_.on_start(detail::report_start(strategy_, progress_.token(), at));
        return progress_.is_granted() ? at_least_zero(progress_.token().delay) : duration::zero();
    }

    /// Before each attempt. False: the strategy's circuit breaker is open, and the attempt must not
    /// be made; report it with `on_not_attempted`.
    [[nodiscard]] bool try_start_attempt(time_point now) noexcept {
        return !attached_ || attached_->try_start_attempt(progress_.retries() + 1, now);
    }
    /// Instead of `try_start_attempt`, for a driver that could not return without an attempt:
    /// bypasses the circuit breaker but still reports the outcome to it.
    void start_attempt(time_point now) noexcept {
        if (attached_) {
            attached_->start_attempt(progress_.retries() + 1, now);
        }
    }

    /// The running attempt succeeded, and with it the request. `budget` is that of the terms.
    void on_success(const decision_context& at, retry_budget* budget = nullptr) noexcept {
        if (budget != nullptr && detail::budget_of(strategy_) == nullptr) {
            budget->on_success(progress_.token().cost, progress_.retries() + 1, at.now);
        }
        if (progress_.is_granted() && !only_answers()) [[likely]] {
            detail::report_success(strategy_, progress_.token(), at);
        }
        if (attached_) {
            attached_->on_success(at.now);
        }
    }

    /// The running attempt failed, or could not be made.
    [[nodiscard]] retry_step on_failure(
        const failed_attempt& failed, request_terms& terms, const decision_context& at) noexcept {
        if (attached_) {
            if (!failed.is_noted || failed.is_canceled) {
                const bool is_no_evidence = failed.is_canceled && !failed.reached_limit;
                attached_->count_failure(failed.facts, is_no_evidence, at.now);
            }
            attached_->on_failure(failed.facts, failed.failure);
        }
        if (failed.is_canceled) {
            return refuse(refusal_reason::canceled, failed, terms, at.now);
        }
        if (failed.rule.is_never()) {
            return refuse(failed.rule.refusal(), failed, terms, at.now);
        }
        if (failed.rule.is_always()) {
            return retry_always(failed, terms, at.now);
        }
        if (!progress_.is_granted()) {
            return refuse(refusal_reason::no_initial_token, failed, terms, at.now);
        }
        return ask(failed, terms, at);
    }

    /// After a deferred step: the strategy has answered, or has failed if `action` is absent.
    [[nodiscard]] retry_step on_answer(
        const std::optional<retry_action>& action, const failed_attempt& failed,
        request_terms& terms, time_point now) noexcept {
        if (failed.is_canceled) {
            return refuse(refusal_reason::canceled, failed, terms, now);
        }
        return conclude(
            action ? *action : retry_action::no(refusal_reason::strategy_failed), failed, terms,
            now);
    }
    /// After a deferred step: the deadline came before the answer.
    [[nodiscard]] retry_step on_no_answer(
        const failed_attempt& failed, request_terms& terms, time_point now) noexcept {
        return refuse(refusal_reason::deadline, failed, terms, now);
    }

    /// The cause of a capped retry has ended before the deadline: the retry is paid for now, and
    /// made unless the step is a refusal.
    [[nodiscard]] retry_step on_woken(
        const failed_attempt& failed, request_terms& terms, time_point now) noexcept {
        if (!progress_.is_charge_pending()) {
            return {.is_retry = true};
        }
        const proposed_retry proposal{.now = now, .facts = failed.facts};
        const admission answer = progress_.on_woken(proposal, limits_of(terms));
        return answer.is_admitted() ? step_of(answer)
                                    : recorded(progress_.retries() + 1, answer, failed, terms, now);
    }

    /// The running attempt takes long, and the driver asks for another one in parallel (hedging).
    /// Admitted, counted and paid for like a retry. True: start attempt `attempt_number()`; what is
    /// reported afterwards is the outcome of all that run. An observer of the admission may cancel
    /// the request, or take so long that the deadline has passed or the breaker has opened: then
    /// nothing has changed but the history. `clock` returns the time after that.
    template <class IsCanceled, class Clock>
    [[nodiscard]] bool admit_hedge(
        request_terms& terms, time_point now, const IsCanceled& is_canceled,
        const Clock& clock) noexcept {
        const retry_progress before = progress_;
        const failed_attempt nothing_failed;
        const admission answer = progress_.on_proposal(
            propose_hedge(terms), proposal_of(nothing_failed, now), limits_of(terms));
        record(
            entry_kind::hedge, before.retries() + 1, step_of(answer), nothing_failed, terms, now);
        if (!answer.is_admitted()) {
            return false;
        }
        const time_point start = clock();
        const bool is_late = time_left(start, terms.limits.deadline) <= duration::zero();
        const bool is_open = attached_ && !attached_->allows_hedge();
        const refusal_reason why = is_canceled() ? refusal_reason::canceled
                                   : is_late     ? refusal_reason::deadline
                                   : is_open     ? refusal_reason::circuit_open
                                                 : refusal_reason::none;
        if (why != refusal_reason::none) {
            forgo_retry(terms, start);
            progress_ = before;
            record(
                entry_kind::hedge, before.retries() + 1, {.refusal = why}, nothing_failed, terms,
                start);
            return false;
        }
        if (attached_) {
            attached_->start_hedge(progress_.retries() + 1);
        }
        return true;
    }
    /// One of several attempts that run at the same time has failed: for the strategy, which counts
    /// failures, for the circuit breaker and for observers. `is_lost`: another one was better. True
    /// if the failure forbids a retry.
    [[nodiscard]] bool on_one_failed(
        const failed_attempt& failed, bool is_lost, request_terms& terms,
        const decision_context& at) noexcept {
        if (attached_) {
            attached_->observation.on_one_ended(number_of(failed), &failed.facts, is_lost);
            if (!is_lost && (!failed.is_canceled || failed.reached_limit)) {
                attached_->count_failure(failed.facts, false, at.now);
            }
        }
        return !is_lost && !failed.is_canceled && progress_.is_granted()
                   ? detail::note_failure(strategy_, question_about(failed, terms, at))
                   : detail::forbids_retry(failed.facts);
    }
    /// The pause that such a failure asks for, as its strategy or its facts state.
    [[nodiscard]] std::optional<duration> minimum_wait(
        const failed_attempt& failed, const request_terms& terms,
        const decision_context& at) noexcept {
        return detail::minimum_wait_of(strategy_, question_about(failed, terms, at));
    }
    /// One of them has succeeded, for observers.
    void on_one_succeeded(std::uint32_t number) noexcept {
        if (attached_) {
            attached_->observation.on_one_ended(number, nullptr, false);
        }
    }

    /// The next attempt is not made: its wait was canceled, or the breaker refused it. What was
    /// taken for it is returned.
    void on_not_attempted(refusal_reason why, request_terms& terms, time_point now) noexcept {
        forgo_retry(terms, now);
        const retry_step step{.refusal = why};
        const failed_attempt nothing_failed;
        record(entry_kind::unattempted, progress_.retries() + 1, step, nothing_failed, terms, now);
    }

    /// Returns what was taken for a retry that has not been made. For drivers that record the end
    /// of such a request themselves; `on_not_attempted` includes it.
    void forgo_retry(request_terms& terms, time_point now) noexcept {
        progress_.on_not_made(limits_of(terms), now);
    }

    /// The request has ended without a success, for observers. Once, after everything else.
    void on_end(refusal_reason why, time_point now) noexcept {
        if (attached_) {
            attached_->on_end(why, now);
        }
    }

private:
    static constexpr bool is_virtual = std::derived_from<Strategy, retry_strategy>;

    enum class entry_kind : std::uint8_t { attempt, unattempted, hedge };

    [[nodiscard]] bool only_answers() const noexcept {
        if constexpr (is_virtual) {
            return strategy_.traits().only_answers;
        } else {
            return false;  // the compiler removes calls that do nothing
        }
    }

    [[nodiscard]] std::uint32_t number_of(const failed_attempt& failed) const noexcept {
        return failed.number != 0 ? failed.number : progress_.retries() + 1;
    }

    [[nodiscard]] retry_question question_about(
        const failed_attempt& failed, const request_terms& terms,
        const decision_context& at) const noexcept {
        return {
            .facts = failed.facts,
            .at = {at.now, at.random, terms.user_data},
            .deadline = terms.limits.deadline,
            .repeat = terms.repeat,
            .failure = failed.failure,
            .reason = failed.reason,
            .retry_attempts = progress_.retries(),
            .is_noted = failed.is_noted,
            .is_assumed = failed.is_assumed,
            .token = progress_.token()};
    }

    [[nodiscard]] retry_step ask(
        const failed_attempt& failed, request_terms& terms, const decision_context& at) noexcept {
        const retry_question question = question_about(failed, terms, at);
        if constexpr (is_virtual) {
            retry_sink sink(terms.answers.make_channel, terms.answers.driver, terms.answers.ticket);
            strategy_.ask(question, sink);
            switch (sink.current()) {
                case retry_sink::state::answered:
                    return conclude(*sink.action(), failed, terms, at.now);
                case retry_sink::state::deferred:
                    // Waiting for an answer needs a place, too. Without one the late answer has no
                    // effect.
                    return terms.limits.bound != nullptr && terms.limits.bound->is_full()
                               ? refuse(refusal_reason::queue_full, failed, terms, at.now)
                               : retry_step{.is_deferred = true};
                case retry_sink::state::open:
                case retry_sink::state::failed:
                    break;
            }
            if (terms.strategy_failure != nullptr) {
                *terms.strategy_failure = sink.take_cause();
            }
            return refuse(refusal_reason::strategy_failed, failed, terms, at.now);
        } else {
            return conclude(detail::ask(strategy_, question), failed, terms, at.now);
        }
    }

    [[nodiscard]] retry_step conclude(
        const retry_action& action, const failed_attempt& failed, request_terms& terms,
        time_point now) noexcept {
        const std::uint32_t number = number_of(failed);
        if (terms.repeat == repeatability::not_repeatable && action.is_retry() &&
            may_have_acted(failed)) {
            return refuse(refusal_reason::not_repeatable, failed, terms, now);
        }
        if (attached_ && action.is_retry() &&
            !attached_->would_allow(now, action.delay_or_zero())) {
            return refuse(refusal_reason::circuit_open, failed, terms, now);
        }
        const admission answer =
            progress_.on_proposal(action, proposal_of(failed, now), limits_of(terms));
        retry_step step = step_of(answer);
        if (!step.is_retry) {
            step.error_category = action.error_category();
            step.error_value = action.error_value();
        }
        record(entry_kind::attempt, number, step, failed, terms, now);
        return step;
    }

    /// The service may have acted, as far as the failure states. Where a protocol names a reason,
    /// its own rules and strategies decide instead.
    [[nodiscard]] static bool may_have_acted(const failed_attempt& failed) noexcept {
        return failed.reason.is_empty() &&
               (!failed.facts.safety.has_value() || *failed.facts.safety == retry_safety::maybe);
    }

    [[nodiscard]] retry_step retry_always(
        const failed_attempt& failed, request_terms& terms, time_point now) noexcept {
        const std::uint32_t number = number_of(failed);
        proposed_retry proposal = proposal_of(failed, now);
        proposal.delay = failed.rule.delay();
        const admission answer = progress_.on_unpaid_retry(proposal, limits_of(terms));
        return recorded(number, answer, failed, terms, now);
    }

    [[nodiscard]] retry_step refuse(
        refusal_reason why, const failed_attempt& failed, request_terms& terms,
        time_point now) noexcept {
        const retry_step step{.refusal = why};
        record(entry_kind::attempt, number_of(failed), step, failed, terms, now);
        return step;
    }

    [[nodiscard]] static retry_step step_of(const admission& answer) noexcept {
        retry_step step;
        step.is_retry = answer.is_admitted();
        step.is_capped = answer.is_capped;
        step.refusal = answer.refusal;
        step.wait = answer.delay;
        step.budget_level = answer.budget_level;
        return step;
    }

    [[nodiscard]] retry_step recorded(
        std::uint32_t number, const admission& answer, const failed_attempt& failed,
        request_terms& terms, time_point now) noexcept {
        const retry_step step = step_of(answer);
        record(entry_kind::attempt, number, step, failed, terms, now);
        return step;
    }

    [[nodiscard]] static proposed_retry proposal_of(
        const failed_attempt& failed, time_point now) noexcept {
        return {.is_waiting = failed.needs_place, .now = now, .facts = failed.facts};
    }

    /// A strategy with a budget of its own is charged only to that budget.
    [[nodiscard]] const retry_limits& limits_of(request_terms& terms) noexcept {
        if (retry_budget* const own = detail::budget_of(strategy_)) {
            terms.limits.budget = own;
        }
        return terms.limits;
    }

    [[nodiscard]] retry_action propose_hedge(const request_terms& terms) const noexcept {
        if (attached_ && !attached_->allows_hedge()) {
            return retry_action::no(refusal_reason::circuit_open);
        }
        if (terms.limits.allowance != nullptr && terms.limits.allowance->left() == 0U) {
            return retry_action::no(refusal_reason::attempts_exhausted);
        }
        return progress_.is_granted() ? retry_action::after(duration::zero())
                                      : retry_action::no(refusal_reason::no_initial_token);
    }

    void record(
        entry_kind kind, std::uint32_t number, const retry_step& step, const failed_attempt& failed,
        request_terms& terms, time_point now) noexcept {
        const bool is_observed = attached_ && attached_->observation.has_observer();
        if (terms.recorder != nullptr || is_observed) {
            write(kind, number, step, failed, terms, now);
        }
    }
    /// Separate from `record`, which has nothing to do for most calls.
    void write(
        entry_kind kind, std::uint32_t number, const retry_step& step, const failed_attempt& failed,
        request_terms& terms, time_point now) noexcept {
        retry_history::entry entry;
        entry.set_attempt(number);
        entry.set_code(failed.facts.code);
        entry.set_offset(time_between(terms.started, now));
        entry.set_delay(step.wait);
        entry.set_budget_level(step.budget_level);
        entry.set_refusal(step.refusal);
        entry.set_facts(failed.facts.timeout, failed.facts.throttling);
        entry.set_is_attempt(kind == entry_kind::attempt);
        entry.set_reason(failed.reason.code());
        if (kind == entry_kind::hedge) {
            entry.set_is_hedge();
        } else if (failed.stage) {
            entry.set_stage(*failed.stage);
        }
        if (terms.recorder != nullptr) {
            terms.recorder->record(entry, failed, step);
        }
        if (attached_ && attached_->observation.has_observer()) {
            attached_->observation.on_decision(entry, failed.facts, failed.failure, failed.reason);
        }
    }

    Strategy& strategy_;
    retry_progress& progress_;
    [[no_unique_address]] Attached attached_;
};

}  // namespace reprise::driver
