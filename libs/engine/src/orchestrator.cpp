#include "orchestrator.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include <reprise/engine/shipped_strategies.hpp>

namespace reprise::engine {

verdict refused(std::error_code error, retry_refusal refusal) {
    verdict result;
    result.error = error;
    result.refusal = refusal;
    return result;
}

namespace {

verdict strategy_failed(std::string cause) {
    verdict result = refused(errc::strategy_failure, retry_refusal::strategy_failed);
    result.cause = std::move(cause);
    return result;
}

bool is_lost_in_flight(const retry_case& failed) noexcept {
    return failed.reason == retry_reason::socket_closed_while_in_flight;
}

// What no strategy may change: nothing unclassified is retried, and nothing that may have been
// applied is sent again.
std::optional<verdict> forbidden(const retry_case& failed, const retry_subject& subject) {
    if (failed.reason == retry_reason::unknown) {
        return refused(failed.own_error, retry_refusal::unclassified);
    }
    if (is_lost_in_flight(failed) && !subject.is_idempotent) {
        verdict result = refused(errc::request_canceled, retry_refusal::lost_in_flight);
        result.is_ambiguous = true;
        return result;
    }
    return std::nullopt;
}

request_snapshot make_snapshot(
    const retry_case& failed, const retry_subject& subject, const request_strategy* strategy,
    std::uint64_t random, time_point now) {
    request_snapshot snapshot;
    snapshot.operation = subject.operation;
    snapshot.is_idempotent = subject.is_idempotent;
    snapshot.retry_attempts = subject.attempts;
    snapshot.retry_reasons = subject.reasons;
    snapshot.error = make_error_code(failed.own_error);
    snapshot.status = failed.status;
    snapshot.server_rule = failed.server_rule;
    snapshot.is_server_rule_unusable = failed.is_server_rule_unusable;
    snapshot.delay_floor = failed.delay_floor;
    snapshot.now = now;
    snapshot.deadline = subject.deadline;
    snapshot.random = random;
    snapshot.user_data = subject.user_data;
    snapshot.strategy = strategy;
    snapshot.memory = subject.memory;
    return snapshot;
}

}  // namespace

errc own_error_of(retry_reason reason) noexcept {
    switch (reason) {
        case retry_reason::service_not_available:
            return errc::service_not_available;
        case retry_reason::authentication_error:
            return errc::authentication_failure;
        case retry_reason::tls_error:
            return errc::tls_failure;
        case retry_reason::bucket_access_error:
            return errc::bucket_access_failure;
        case retry_reason::scope_not_found:
            return errc::scope_not_found;
        case retry_reason::collection_not_found:
            return errc::collection_not_found;
        default:
            return errc::request_canceled;
    }
}

orchestrator::orchestrator(const engine_options& options, std::shared_ptr<answer_channel> channel)
    : strategy_(options.strategy ? options.strategy : std::make_shared<terminal_error_strategy>()),
      budget_(options.retry_budget),
      not_my_vbucket_delay_(options.not_my_vbucket_delay),
      parked_count_max_(options.parked_count_max),
      channel_(std::move(channel)) {}

std::optional<verdict> orchestrator::decide(
    const retry_case& failed, const retry_subject& subject, std::size_t parked_count,
    std::uint64_t random, time_point now) {
    if (auto final = forbidden(failed, subject)) {
        return final;
    }
    if (info(failed.reason).always_retry) {
        duration delay = controlled_backoff(subject.attempts);
        if (failed.reason == retry_reason::kv_not_my_vbucket && not_my_vbucket_delay_) {
            delay = *not_my_vbucket_delay_;
        }
        delay = std::min(delay, failed.delay_max.value_or(delay));
        return schedule(delay, failed.stage, subject, parked_count, now);
    }
    request_strategy* strategy = subject.strategy != nullptr ? subject.strategy : strategy_.get();
    retry_sink sink(channel_, subject.ticket);
    try {
        strategy->retry_after(
            make_snapshot(failed, subject, strategy, random, now), failed.reason, sink);
    } catch (const std::exception& thrown) {
        return strategy_failed(thrown.what());
    } catch (...) {
        return strategy_failed("threw something that is no std::exception");
    }
    switch (sink.current()) {
        case retry_sink::state::deferred:
            // Waiting for an answer is waiting, too; a late one finds nobody.
            if (parked_count >= parked_count_max_) {
                return refused(errc::retry_queue_full, retry_refusal::queue_full);
            }
            return std::nullopt;
        case retry_sink::state::answered:
            return conclude(failed, subject, *sink.action(), parked_count, now);
        case retry_sink::state::failed:
            return strategy_failed(sink.cause());
        case retry_sink::state::open:
            break;
    }
    return strategy_failed("returned without an answer");
}

verdict orchestrator::on_answer(
    const failed_attempt& failed, const retry_subject& subject,
    const std::optional<retry_action>& action, std::string cause, std::size_t parked_count,
    time_point now) {
    return action ? conclude(failed, subject, *action, parked_count, now)
                  : strategy_failed(std::move(cause));
}

bucket_budget* orchestrator::budget_of(const retry_subject& subject) noexcept {
    if (subject.budget != nullptr) {
        return subject.budget;
    }
    return budget_ ? &*budget_ : nullptr;
}

void orchestrator::on_success(
    const retry_subject& subject, std::uint32_t cost, time_point now) noexcept {
    if (bucket_budget* budget = budget_of(subject)) {
        budget->on_success(cost, subject.attempts + 1, now);
    }
    request_strategy* strategy = subject.strategy != nullptr ? subject.strategy : strategy_.get();
    strategy->on_success(make_snapshot({}, subject, strategy, 0, now));
}

// The strategy has spoken; what is left are the allowance, the budget and the bound.
verdict orchestrator::conclude(
    const failed_attempt& failed, const retry_subject& subject, const retry_action& action,
    std::size_t parked_count, time_point now) {
    const bool is_no = !action.delay();
    if (is_no) {
        return refused(
            action.error() ? action.error() : make_error_code(failed.own_error),
            retry_refusal::strategy_said_no);
    }
    verdict result = schedule(*action.delay(), failed.stage, subject, parked_count, now);
    if (!result.is_retry) {
        return result;
    }
    if (subject.allowance != nullptr && !subject.allowance->try_take()) {
        return refused(failed.own_error, retry_refusal::outer_allowance);
    }
    if (bucket_budget* budget = budget_of(subject)) {
        const payment paid = budget->try_pay(describe(failed.own_error), now);
        const bool is_refused = !paid.paid;
        if (is_refused) {
            if (subject.allowance != nullptr) {
                subject.allowance->give_back();
            }
            return refused(failed.own_error, retry_refusal::budget_exhausted);
        }
        result.budget_cost = paid.cost;
    }
    result.memory = action.memory();
    return result;
}

verdict orchestrator::schedule(
    duration delay, attempt_stage stage, const retry_subject& subject, std::size_t parked_count,
    time_point now) const {
    // Only a retry that goes out at once needs no place to wait.
    const bool is_waiting = delay > duration::zero() || stage == attempt_stage::dispatch;
    const bool is_full = is_waiting && parked_count >= parked_count_max_;
    if (is_full) {
        return refused(errc::retry_queue_full, retry_refusal::queue_full);
    }
    verdict result;
    result.is_retry = true;
    result.delay = delay;
    const duration left = time_left(now, subject.deadline);
    if (delay >= left && delay > duration::zero()) {
        result.delay = left;
        result.is_capped = true;
    }
    return result;
}

}  // namespace reprise::engine
