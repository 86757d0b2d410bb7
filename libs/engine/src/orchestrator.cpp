#include "orchestrator.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include <reprise/engine/shipped_strategies.hpp>

#include "planted_bug.hpp"

namespace reprise::engine {
namespace {

verdict refused(std::error_code error, retry_refusal refusal) {
    verdict result;
    result.error = error;
    result.refusal = refusal;
    return result;
}

verdict strategy_failed(std::string cause) {
#if defined(REPRISE_MUTANT_RH_02)
    verdict result = refused(errc::request_canceled, retry_refusal::strategy_failed);
#else
    verdict result = refused(errc::strategy_failure, retry_refusal::strategy_failed);
#endif
    result.cause = std::move(cause);
    return result;
}

bool is_lost_in_flight(const retry_case& failed) noexcept {
    return failed.reason == retry_reason::socket_closed_while_in_flight;
}

// What no strategy may change: nothing unclassified is retried, and nothing that may have been
// applied is sent again.
std::optional<verdict> forbidden(const retry_case& failed, const retry_subject& subject) {
#if !defined(REPRISE_MUTANT_RH_10)
    if (failed.reason == retry_reason::unknown) {
        return refused(failed.own_error, retry_refusal::unclassified);
    }
#endif
#if !defined(REPRISE_MUTANT_RH_16)
    if (is_lost_in_flight(failed) && !subject.is_idempotent) {
        verdict result = refused(errc::request_canceled, retry_refusal::lost_in_flight);
        result.is_ambiguous = true;
        return result;
    }
#else
    static_cast<void>(subject);
#endif
    return std::nullopt;
}

request_snapshot make_snapshot(
    const retry_case& failed, const retry_subject& subject, const request_strategy* strategy,
    std::uint64_t random, time_point now) {
    request_snapshot snapshot;
    snapshot.operation = subject.operation;
    snapshot.is_idempotent = subject.is_idempotent;
#if defined(REPRISE_MUTANT_RH_16)
    snapshot.is_idempotent = subject.is_idempotent || is_lost_in_flight(failed);
#endif
    snapshot.retry_attempts = subject.attempts;
    snapshot.retry_reasons = subject.reasons;
    snapshot.status = failed.status;
    snapshot.server_rule = failed.server_rule;
    snapshot.delay_floor = failed.delay_floor;
    snapshot.now = now;
    snapshot.deadline = subject.deadline;
    snapshot.random = random;
#if !defined(REPRISE_MUTANT_RH_04)
    snapshot.user_data = subject.user_data;
#endif
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
    if (planted(bug::not_my_vbucket_leaked) && subject.attempts >= 2 &&
        failed.reason == retry_reason::kv_not_my_vbucket) {
        return refused(failed.own_error, retry_refusal::strategy_said_no);
    }
    if (info(failed.reason).always_retry && !planted(bug::always_retry_asks_strategy)) {
        const std::uint32_t step = planted(bug::ladder_off_by_one) ? 1 : 0;
        duration delay = controlled_backoff(subject.attempts + step);
#if !defined(REPRISE_MUTANT_VB_05)
        if (failed.reason == retry_reason::kv_not_my_vbucket && not_my_vbucket_delay_) {
            delay = *not_my_vbucket_delay_;
        }
#endif
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
        if (planted(bug::double_refund)) {
            budget->on_success(cost, subject.attempts + 1, now);
        }
    }
    request_strategy* strategy = subject.strategy != nullptr ? subject.strategy : strategy_.get();
    strategy->on_success(make_snapshot({}, subject, strategy, 0, now));
}

// The strategy has spoken; what is left are the allowance, the budget and the bound.
verdict orchestrator::conclude(
    const failed_attempt& failed, const retry_subject& subject, const retry_action& action,
    std::size_t parked_count, time_point now) {
#if defined(REPRISE_MUTANT_RH_03)
    const bool is_no = action.delay().value_or(duration::zero()) == duration::zero();
#else
    const bool is_no = !action.delay();
#endif
    if (is_no) {
        if (planted(bug::budget_charged_on_refusal) && budget_of(subject) != nullptr) {
            static_cast<void>(budget_of(subject)->try_pay(describe(failed.own_error), now));
        }
        return refused(
            action.error() ? action.error() : make_error_code(failed.own_error),
            retry_refusal::strategy_said_no);
    }
    const duration delay = planted(bug::strategy_delay_ignored)
                               ? controlled_backoff(subject.attempts)
                               : *action.delay();
    verdict result = schedule(delay, failed.stage, subject, parked_count, now);
    if (!result.is_retry) {
        return result;
    }
    if (subject.allowance != nullptr && !subject.allowance->try_take()) {
        return refused(failed.own_error, retry_refusal::outer_allowance);
    }
    if (bucket_budget* budget = budget_of(subject)) {
        const payment paid = budget->try_pay(describe(failed.own_error), now);
#if defined(REPRISE_MUTANT_RH_33)
        const bool is_refused = false;
#else
        const bool is_refused = !paid.paid;
#endif
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
#if defined(REPRISE_MUTANT_RH_32)
    const bool is_full = is_waiting && parked_count > parked_count_max_;
#else
    const bool is_full = is_waiting && parked_count >= parked_count_max_;
#endif
    if (is_full && !planted(bug::parked_bound_ignored)) {
        return refused(errc::retry_queue_full, retry_refusal::queue_full);
    }
    verdict result;
    result.is_retry = true;
    result.delay = delay;
#if !defined(REPRISE_MUTANT_RH_13)
    const duration left = time_left(now, subject.deadline);
    if (delay >= left && delay > duration::zero() && !planted(bug::forget_cap)) {
        result.delay = left;
        result.is_capped = true;
    }
#else
    static_cast<void>(subject);
    static_cast<void>(now);
#endif
    return result;
}

}  // namespace reprise::engine
