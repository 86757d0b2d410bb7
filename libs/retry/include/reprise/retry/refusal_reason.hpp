#pragma once

/// Why there was no (further) retry, and whether a call may be executed twice.

#include <cstdint>
#include <string_view>

#include <reprise/retry/detail/compiler.hpp>

namespace reprise {

/// Why there was no (further) retry. Recorded with the attempt; never replaces the operation's own
/// error.
enum class refusal_reason : std::uint8_t {
    none,                ///< Not refused.
    unsafe,              ///< The failure itself states that it must not be retried.
    not_repeatable,      ///< Safety unknown and the call is marked as not repeatable.
    client_fault,        ///< No retry information, and the request itself was at fault.
    unclassified,        ///< Nothing is known about the failure that would allow a retry.
    attempts_exhausted,  ///< The strategy's maximum number of attempts has been made.
    budget_exhausted,    ///< The budget cannot pay the whole cost of another attempt.
    deadline,            ///< The retry could not have started before the deadline.
    outer_allowance,     ///< An enclosing loop has no retries left.
    canceled,            ///< The caller asked to stop.
    no_initial_token,    ///< The strategy granted no token: one attempt, no retries.
    invalid_token,       ///< A token of another strategy, or one already used.
    strategy_refused,    ///< The strategy answered no and named no other reason.
    strategy_failed,     ///< The strategy threw, or dropped the question.
    may_have_acted,      ///< Sent, then the connection closed; executing it twice is not safe.
    queue_full,          ///< Too many requests wait for a retry.
    partly_delivered,    ///< The caller has a part of the answer: a retry would repeat it.
    not_allowed,         ///< The options do not allow the request to be sent.
    predicate_refused,   ///< The strategy's predicate does not ask for a retry of this failure.
    circuit_open,        ///< A circuit breaker keeps requests away from the service.
    programming_error,   ///< Such as `std::logic_error`: retried only if the strategy names it.
    unmarked_call,       ///< Safety unknown, and the strategy refuses calls without a mark.
};

/// One short lower-case phrase, for logs and histories.
[[nodiscard]] REPRISE_EXPORT std::string_view to_string(refusal_reason reason) noexcept;

/// What to change in the program to get a retry, as one phrase; empty if nothing is
/// missing. Histories of loops contain it.
[[nodiscard]] REPRISE_EXPORT std::string_view remedy_for(refusal_reason reason) noexcept;

/// Whether the caller may have its operation executed twice.
enum class repeatability : std::uint8_t {
    unspecified,     ///< Nothing stated: as `repeatable`, unless the strategy refuses such calls.
    repeatable,      ///< Idempotent: failures of safety `maybe` are retried.
    not_repeatable,  ///< Only failures that are safe for certain (`retry_safety::yes`) are retried.
};

}  // namespace reprise
