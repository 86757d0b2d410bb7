#include "operations/retry_decider.hpp"

#include <algorithm>
#include <utility>

#include "controlled_backoff.hpp"

namespace reprise::engine {

retry_outcome refused(std::error_code error, refusal_reason refusal) {
    retry_outcome result;
    result.error = error;
    result.refusal = refusal;
    return result;
}

namespace {

retry_outcome strategy_failed(std::string cause) {
    retry_outcome result = refused(errc::strategy_failure, refusal_reason::strategy_failed);
    result.cause = std::move(cause);
    return result;
}

bool is_lost_in_flight(const failed_attempt& failed) noexcept {
    return failed.reason == retry_reason::socket_closed_while_in_flight;
}

// Rules that no strategy can override: an unclassified failure is not retried, and a request that
// may have been applied is not sent again.
std::optional<retry_outcome> forbidden(const retry_case& failed, const retry_subject& subject) {
    if (failed.reason == retry_reason::unknown) {
        return refused(failed.own_error, refusal_reason::unclassified);
    }
    if (is_lost_in_flight(failed) && !subject.is_idempotent) {
        retry_outcome result = refused(errc::request_canceled, refusal_reason::lost_in_flight);
        result.is_ambiguous = true;
        return result;
    }
    return std::nullopt;
}

// Derives the facts of a failure from its reason. A retry is safe if the server did nothing.
// Terminal reasons, which only a person can resolve, state a client's fault but no `no`: a strategy
// may wait for that person, as best effort does.
failure_facts facts_of(const failed_attempt& failed) noexcept {
    const retry_reason_facts& known = info(failed.reason);
    failure_facts facts = describe(failed.own_error);
    facts.throttling = facts.throttling || failed.reason == retry_reason::search_too_many_requests;
    if (known.is_terminal) {
        facts.safety.reset();
        facts.fault = failure_fault::client;
    } else {
        facts.safety = known.allows_non_idempotent_retry ? retry_safety::yes : retry_safety::maybe;
        facts.fault = failure_fault::server;
    }
    facts.code = failed.status;
    return facts;
}

request_snapshot snapshot_of(
    const retry_case& failed, const retry_subject& subject,
    const retry_strategy& strategy) noexcept {
    request_snapshot snapshot;
    snapshot.strategy = &strategy;
    snapshot.operation = subject.operation;
    snapshot.is_idempotent = subject.is_idempotent;
    snapshot.retry_reasons = subject.reasons;
    snapshot.error = make_error_code(failed.own_error);
    snapshot.status = failed.status;
    snapshot.server_rule = failed.server_rule;
    snapshot.is_server_rule_unusable = failed.is_server_rule_unusable;
    return snapshot;
}

retry_question question_about(
    const retry_case& failed, const retry_subject& subject, const request_snapshot& snapshot,
    const decision_context& at) noexcept {
    retry_question question;
    question.facts = facts_of(failed);
    if (failed.delay_floor > duration::zero()) {
        question.facts.minimum_wait = failed.delay_floor;
    }
    question.at = at;
    question.at.user_data = subject.user_data;
    question.deadline = subject.deadline;
    question.repeat =
        subject.is_idempotent ? repeatability::repeatable : repeatability::not_repeatable;
    question.failure = failure_view::of(snapshot);
    question.reason = failed.reason;
    question.retry_attempts = subject.progress->retries();
    question.token = subject.progress->token();
    return question;
}

// Refusals by the client itself have their own errors. All others keep the error of the operation.
std::error_code error_of(refusal_reason refusal, errc own_error) noexcept {
    switch (refusal) {
        case refusal_reason::queue_full:
            return errc::retry_queue_full;
        case refusal_reason::strategy_failed:
            return errc::strategy_failure;
        case refusal_reason::none:
        case refusal_reason::unsafe:
        case refusal_reason::not_repeatable:
        case refusal_reason::client_fault:
        case refusal_reason::unclassified:
        case refusal_reason::attempts_exhausted:
        case refusal_reason::budget_exhausted:
        case refusal_reason::deadline:
        case refusal_reason::outer_allowance:
        case refusal_reason::canceled:
        case refusal_reason::no_initial_token:
        case refusal_reason::invalid_token:
        case refusal_reason::strategy_refused:
        case refusal_reason::lost_in_flight:
        case refusal_reason::rows_taken:
        case refusal_reason::not_allowed:
        case refusal_reason::predicate_refused:
        case refusal_reason::circuit_open:
        case refusal_reason::programming_error:
        case refusal_reason::unmarked_call:
            return own_error;
    }
    return own_error;
}

retry_outcome outcome_of(const admission& answer, errc own_error) {
    if (!answer.is_admitted()) {
        return refused(error_of(answer.refusal, own_error), answer.refusal);
    }
    retry_outcome result;
    result.is_retry = true;
    result.delay = answer.delay;
    result.is_capped = answer.is_capped;
    return result;
}

// A retry before anything was sent goes through the timer, so it needs a waiting place even with a
// zero delay.
proposed_retry proposal_about(const failed_attempt& failed, time_point now) noexcept {
    proposed_retry proposal;
    proposal.is_waiting = failed.stage == attempt_stage::dispatch;
    proposal.now = now;
    proposal.facts = facts_of(failed);
    return proposal;
}

}  // namespace

errc own_error_of(retry_reason reason) noexcept {
    if (reason == retry_reason::service_not_available) {
        return errc::service_not_available;
    }
    // Without an error of its own the client could not go on; the reason is in the error.
    return couchbase::terminal_error(reason).value_or(errc::request_canceled);
}

retry_decider::retry_decider(const engine_options& options, std::shared_ptr<answer_channel> channel)
    : strategy_(
          options.strategy ? options.strategy
                           : std::make_shared<fail_fast_on_terminal_error_strategy>()),
      not_my_vbucket_delay_(options.not_my_vbucket_delay),
      parked_count_max_(options.parked_count_max),
      channel_(std::move(channel)) {}

std::shared_ptr<answer_channel> retry_decider::channel_of(void* decider) {
    return static_cast<retry_decider*>(decider)->channel_;
}

retry_strategy& retry_decider::strategy_of(const retry_subject& subject) noexcept {
    return subject.strategy != nullptr ? *subject.strategy : *strategy_;
}

// A strategy with its own budget is charged only to that budget.
retry_limits retry_decider::limits_of(
    const retry_subject& subject, const waiting_bound& bound) noexcept {
    retry_budget* own = strategy_of(subject).paying_budget();
    retry_limits limits;
    limits.deadline = subject.deadline;
    limits.at_deadline = deadline_policy::cap;
    limits.bound = &bound;
    limits.allowance = subject.allowance;
    limits.budget = own != nullptr ? own : subject.budget;
    return limits;
}

// A strategy starts at the first failure, or at the success if there was none. A delay that it
// requests before the first attempt therefore has no effect.
bool retry_decider::start(const retry_subject& subject, const decision_context& at) noexcept {
    retry_progress& progress = *subject.progress;
    if (!progress.is_started()) {
        decision_context start_at = at;
        start_at.user_data = subject.user_data;
        progress.on_start(strategy_of(subject).begin(progress.token(), start_at));
    }
    return progress.is_granted();
}

std::optional<retry_outcome> retry_decider::decide(
    const retry_case& failed, const retry_subject& subject, std::size_t parked_count,
    const decision_context& at) {
    if (auto final = forbidden(failed, subject)) {
        return final;
    }
    const waiting_bound bound{parked_count, parked_count_max_};
    if (info(failed.reason).always_retry) {
        return retry_always(failed, subject, limits_of(subject, bound), at.now);
    }
    if (!start(subject, at)) {
        return refused(failed.own_error, refusal_reason::no_initial_token);
    }
    retry_strategy& strategy = strategy_of(subject);
    const request_snapshot snapshot = snapshot_of(failed, subject, strategy);
    retry_sink sink(&retry_decider::channel_of, this, subject.ticket);
    strategy.ask(question_about(failed, subject, snapshot, at), sink);
    switch (sink.current()) {
        case retry_sink::state::deferred:
            // Waiting for an answer needs a place, too. If there is none, the late answer has no
            // effect.
            if (bound.is_full()) {
                return refused(errc::retry_queue_full, refusal_reason::queue_full);
            }
            return std::nullopt;
        case retry_sink::state::answered:
            return conclude(failed, subject, *sink.action(), bound, at.now);
        case retry_sink::state::open:
        case retry_sink::state::failed:
            break;
    }
    return strategy_failed(sink.cause());
}

retry_outcome retry_decider::retry_always(
    const retry_case& failed, const retry_subject& subject, const retry_limits& limits,
    time_point now) const {
    duration delay = controlled_backoff(subject.progress->retries());
    if (failed.reason == retry_reason::kv_not_my_vbucket && not_my_vbucket_delay_) {
        delay = *not_my_vbucket_delay_;
    }
    proposed_retry proposal = proposal_about(failed, now);
    proposal.delay = std::min(delay, failed.delay_max.value_or(delay));
    return outcome_of(subject.progress->on_unpaid_retry(proposal, limits), failed.own_error);
}

retry_outcome retry_decider::on_answer(
    const failed_attempt& failed, const retry_subject& subject,
    const std::optional<retry_action>& action, std::string cause, std::size_t parked_count,
    time_point now) {
    const waiting_bound bound{parked_count, parked_count_max_};
    return action ? conclude(failed, subject, *action, bound, now)
                  : strategy_failed(std::move(cause));
}

std::optional<retry_outcome> retry_decider::on_woken(
    const failed_attempt& failed, const retry_subject& subject, time_point now) {
    const waiting_bound bound{};  // it waits no longer
    const admission answer =
        subject.progress->on_woken(proposal_about(failed, now), limits_of(subject, bound));
    return answer.is_admitted() ? std::nullopt
                                : std::optional(outcome_of(answer, failed.own_error));
}

void retry_decider::on_success(const retry_subject& subject, time_point now) noexcept {
    const decision_context at{now, 0, subject.user_data};
    retry_strategy& strategy = strategy_of(subject);
    const bool is_granted = start(subject, at);
    const retry_progress& progress = *subject.progress;
    if (subject.budget != nullptr && strategy.paying_budget() == nullptr) {
        subject.budget->on_success(progress.token().cost, progress.retries() + 1, now);
    }
    if (is_granted) {
        strategy.succeed(progress.token(), at);
    }
}

retry_outcome retry_decider::conclude(
    const failed_attempt& failed, const retry_subject& subject, const retry_action& action,
    const waiting_bound& bound, time_point now) {
    const admission answer = subject.progress->on_proposal(
        action, proposal_about(failed, now), limits_of(subject, bound));
    retry_outcome outcome = outcome_of(answer, failed.own_error);
    if (!outcome.is_retry && action.error()) {
        outcome.error = action.error();
    }
    return outcome;
}

}  // namespace reprise::engine
