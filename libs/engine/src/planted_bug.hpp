#pragma once

#include <cstddef>
#include <cstdint>

// Bugs on purpose: what the simulation must find. None of them is in a production build, where
// `planted` is a constant false and the compiler removes the branch. -DREPRISE_PLANTED_BUG=<name>
// plants one; -DREPRISE_PLANTED_BUGS_SELECTABLE lets the program choose while it runs, so that one
// further build of the sources serves them all.

namespace reprise::engine {

enum class bug : std::uint8_t {
    none,
    retry_write_after_close,       // a write lost in flight is taken for one never sent
    partial_write_counts_unsent,   // what the system took of an unfinished write likewise
    counter_counts_as_read,        // an increment is repeated like a read
    forget_cap,                    // a delay may reach beyond the deadline
    ladder_off_by_one,             // the controlled backoff begins with its second step
    retry_too_early,               // a retry waits for half of its delay
    deadline_off_by_delay,         // each backoff moves the deadline
    always_retry_asks_strategy,    // the strategy is asked where it has no say
    not_my_vbucket_leaked,         // the third not-my-vbucket ends the operation
    strategy_delay_ignored,        // the strategy's delay is replaced by the controlled backoff
    late_answer_lost,              // a strategy that answers later is not heard the second time
    double_refund,                 // a success pays the budget twice
    budget_charged_on_refusal,     // the budget pays although the strategy said no
    parked_bound_ignored,          // any number of operations may wait
    credit_ignored,                // any number of requests may be on the wire
    abandoned_request_forgotten,   // a request given up takes no credit any more
    reuse_opaque,                  // numbers begin anew when nothing is waited for
    completion_lost_at_close,      // what is on the wire when the client closes never ends
    operation_lost_at_disconnect,  // what was not sent when a connection ends never ends
    connection_left_at_close,      // a connection not yet open is not closed with the client
    timeout_hides_ambiguity,       // a timeout on the wire is told as unambiguous
    timeout_invents_ambiguity,     // a timeout after a retry is told as ambiguous
    cancel_hides_ambiguity,        // a cancellation on the wire is told as unambiguous
    back_to_current_map,           // from the forward map back without a newer configuration
    older_configuration_taken,     // any other revision counts as newer
    replica_read_from_active,      // replicas are read from the active copy
    wake_up_lost_on_map,           // a new configuration wakes nobody
    wake_up_lost_on_connection,    // a new connection wakes nobody
    stale_collection_id,           // an id is kept that the server does not know
    terminal_state_not_cleared,    // accepted credentials do not end the refusal before
    terminal_state_too_eager,      // any connect that fails counts as a failure of TLS
    reconnect_given_up,            // after a few failures a node is not connected to again
    breaker_stuck_half_open,       // the answer to the canary does not close the breaker
    error_map_count_not_reset,     // the count goes on from one status to another
    history_torn,                  // the fifth entry pushes the first four out
    cas_of_answer_lost,            // a result after a retry has no CAS
    increment_doubled_on_retry,    // a retried increment adds twice as much
    // HTTP operations.
    redirect_followed,        // a redirect is followed
    statement_sent_again,     // what changes something is sent again after a close
    prepared_not_renewed,     // a statement that was forgotten is not prepared again
    rows_handed_out_twice,    // rows stay when they are taken
    failed_rows_handed_out,   // rows of an answer that will be asked for again can be taken
    retried_after_rows,       // rows that were taken do not hinder a retry
    error_after_rows_missed,  // an error behind rows is not seen
    unread_connection_kept,   // the next request goes out before the last answer has come
    retry_after_ignored,      // Retry-After is not read
};

inline constexpr std::size_t bug_count = 46;

#if defined(REPRISE_PLANTED_BUGS_SELECTABLE)
inline bug chosen_bug = bug::none;
[[nodiscard]] inline bool planted(bug which) noexcept {
    return chosen_bug == which;
}
#elif defined(REPRISE_PLANTED_BUG)
[[nodiscard]] constexpr bool planted(bug which) noexcept {
    return which == bug::REPRISE_PLANTED_BUG;
}
#else
[[nodiscard]] constexpr bool planted(bug) noexcept {
    return false;
}
#endif

}  // namespace reprise::engine
