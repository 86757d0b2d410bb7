#include "operations/retry_rules.hpp"

#include <algorithm>

#include "controlled_backoff.hpp"

namespace reprise::engine {
namespace {

bool is_lost_in_flight(const failed_attempt& failed) noexcept {
    return failed.reason == retry_reason::socket_closed_while_in_flight;
}

// Refusals by the client itself have their own errors. All others keep the error of the operation.
std::error_code error_of(refusal_reason refusal, errc own_error) noexcept {
    switch (refusal) {
        case refusal_reason::queue_full:
            return errc::retry_queue_full;
        case refusal_reason::strategy_failed:
            return errc::strategy_failure;
        case refusal_reason::may_have_acted:
            return errc::request_canceled;
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
        case refusal_reason::partly_delivered:
        case refusal_reason::not_allowed:
        case refusal_reason::predicate_refused:
        case refusal_reason::circuit_open:
        case refusal_reason::programming_error:
        case refusal_reason::unmarked_call:
            return own_error;
    }
    return own_error;
}

duration controlled_delay(
    const retry_case& failed, std::uint32_t retries,
    const std::optional<duration>& not_my_vbucket_delay) noexcept {
    duration delay = controlled_backoff(retries);
    if (failed.reason == retry_reason::kv_not_my_vbucket && not_my_vbucket_delay) {
        delay = *not_my_vbucket_delay;
    }
    return std::min(delay, failed.delay_max.value_or(delay));
}

}  // namespace

// An unclassified failure is not retried, and a request that may have been applied is not sent
// again, whatever a strategy would answer.
driver::protocol_rule rule_for(
    const retry_case& failed, bool is_idempotent, std::uint32_t retries,
    const std::optional<duration>& not_my_vbucket_delay) {
    using driver::protocol_rule;
    if (failed.veto != refusal_reason::none) {
        return protocol_rule::never(failed.veto);
    }
    if (failed.reason == retry_reason::unknown) {
        return protocol_rule::never(refusal_reason::unclassified);
    }
    if (is_lost_in_flight(failed) && !is_idempotent) {
        return protocol_rule::never(refusal_reason::may_have_acted);
    }
    if (failed.may_have_been_applied) {
        return protocol_rule::never(refusal_reason::not_repeatable);
    }
    if (info(failed.reason).always_retry) {
        return protocol_rule::always(controlled_delay(failed, retries, not_my_vbucket_delay));
    }
    return {};
}

// A retry is safe if the server did nothing. Terminal reasons, which only a person can resolve,
// state a client's fault but no `no`: a strategy may wait for that person, as best effort does. If
// the protocol demands the retry, the client has asked with outdated knowledge, which says nothing
// against the server.
failure_facts facts_of(const failed_attempt& failed) noexcept {
    const retry_reason_facts& known = info(failed.reason);
    failure_facts facts = describe(failed.own_error);
    facts.throttling = facts.throttling || known.is_throttling;
    if (known.is_terminal()) {
        facts.safety.reset();
        facts.fault = failure_fault::client;
    } else {
        facts.safety = known.allows_non_idempotent_retry ? retry_safety::yes : retry_safety::maybe;
        facts.fault = known.always_retry ? failure_fault::client : failure_fault::server;
    }
    facts.code = failed.status;
    return facts;
}

retry_outcome outcome_of(const driver::retry_step& step, const failed_attempt& failed) {
    retry_outcome outcome;
    outcome.is_retry = step.is_retry;
    outcome.delay = step.wait;
    outcome.is_capped = step.is_capped;
    outcome.refusal = step.refusal;
    if (!step.is_retry) {
        const std::error_code named = step.error();
        outcome.error = named ? named : error_of(step.refusal, failed.own_error);
        outcome.is_ambiguous =
            step.refusal == refusal_reason::may_have_acted || failed.may_have_been_applied;
    }
    return outcome;
}

errc own_error_of(retry_reason reason) noexcept {
    if (reason == retry_reason::service_not_available) {
        return errc::service_not_available;
    }
    // Without an error of its own the client could not go on; the reason is in the error.
    return info(reason).terminal_error.value_or(errc::request_canceled);
}

}  // namespace reprise::engine
