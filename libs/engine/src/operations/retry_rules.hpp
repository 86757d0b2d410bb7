#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <system_error>

#include <reprise/engine/vocabulary.hpp>
#include <reprise/retry/driver/orchestrator.hpp>

// Couchbase's part of a retry decision: which failures are never retried, which ones always are,
// and which error the user gets. Everything else is decided by the retry library's orchestrator.

namespace reprise::engine {

using driver::attempt_stage;

// The facts of a failed attempt that are kept while a strategy is deciding.
struct failed_attempt {
    retry_reason reason = retry_reason::unknown;
    attempt_stage stage = attempt_stage::dispatch;
    std::uint16_t status = 0;
    // The error that the user gets if there is no retry and the strategy names no other error.
    errc own_error = errc::request_canceled;
    // The request may change data, and the server may have executed it.
    bool may_have_been_applied = false;
};

// A failed attempt, with the facts that only the question needs.
struct retry_case : failed_attempt {
    std::optional<server_retry_rule> server_rule{};
    // Only for not-my-vbucket: the longest wait. Zero if another node is known.
    std::optional<duration> delay_max{};
    // The server promised a waiting rule for this status but sent none that can be used.
    bool is_server_rule_unusable = false;
    // The shortest wait that the server asked for (Retry-After). Zero if it did not ask.
    duration delay_floor{};
    // Why the client itself does not retry, for causes that the rules below do not cover.
    refusal_reason veto = refusal_reason::none;
};

// What to do after a failed attempt.
struct retry_outcome {
    bool is_retry = false;
    // Retry: how long to wait. With `is_capped`, the wait ends exactly at the deadline, when the
    // operation times out unless it was woken before.
    duration delay{};
    bool is_capped = false;
    // No retry: the error that the user gets.
    std::error_code error{};
    bool is_ambiguous = false;
    refusal_reason refusal = refusal_reason::none;
    std::string cause{};  // why the strategy failed
};

// The rule for a failed attempt of a request that was retried `retries` times before.
// `not_my_vbucket_delay` replaces the controlled backoff after not-my-vbucket.
[[nodiscard]] driver::protocol_rule rule_for(
    const retry_case& failed, bool is_idempotent, std::uint32_t retries,
    const std::optional<duration>& not_my_vbucket_delay);

// Derives the facts of a failure from its reason.
[[nodiscard]] failure_facts facts_of(const failed_attempt& failed) noexcept;

// The outcome that a decision of the orchestrator has for the user.
[[nodiscard]] retry_outcome outcome_of(
    const driver::retry_step& step, const failed_attempt& failed);

// The error of an operation that could not be sent or got no answer for this reason.
[[nodiscard]] errc own_error_of(retry_reason reason) noexcept;

}  // namespace reprise::engine
