#pragma once

#include <cstdint>
#include <memory>

#include <reprise/engine/completion.hpp>
#include <reprise/retry/driver/admission.hpp>

#include "engine_timer.hpp"
#include "intrusive_list.hpp"
#include "operations/operation_history.hpp"
#include "operations/retry_rules.hpp"

namespace reprise::engine {

// The state of an operation. Only `operation_lifecycle` changes it.
enum class operation_state : std::uint8_t {
    free,       // not started, or ended
    running,    // being worked on inside one engine call
    parked,     // waits for its retry or for a resource: configuration, connection, collection id
    deciding,   // waits for the strategy's answer
    queued,     // waits to be sent on a connection
    in_flight,  // a connection has the request; no complete answer yet
};

// The state that operations of all services have: state, deadline, retries and completion. Each has
// one timer, for its retry or its deadline, and is in one list at a time. See
// operation_lifecycle.hpp.
struct operation_base : engine_timer, list_hook {
    explicit operation_base(timer_kind kind) noexcept : engine_timer(kind) {}

    operation_state state = operation_state::free;
    bool holds_place = false;  // counts as a waiting operation
    // Parked without a retry: only a wake-up or the deadline ends the wait.
    bool is_silent = false;
    // Its strategy, which has neither circuit breaker nor observer, is only asked about failures.
    bool is_plain = false;
    // A request of the current attempt was sent, and no failure was decided about since: the next
    // request continues the attempt. Only set where an attempt may take several requests.
    bool has_attempt = false;

    // The reason of the last retry.
    retry_reason last_reason = retry_reason::unknown;
    std::uint32_t decision = 0;  // number of the question that a strategy is working on
    driver::retry_progress progress;
    retry_reason_set reasons;
    failed_attempt failed;  // the attempt that a strategy is working on

    std::int32_t endpoint = -1;  // number of the endpoint of the last attempt; negative: none
    refusal_reason refusal = refusal_reason::none;  // of the last decision
    time_point started{};
    time_point deadline = driver::no_deadline;
    operation_history history;
    // Circuit breaker and observer of the operation's strategy. Null for most operations. It stands
    // before `done` to fill the gap that the alignment of `done` leaves.
    std::unique_ptr<reprise::detail::call_attachments> attached;
    completion done;
};

}  // namespace reprise::engine
