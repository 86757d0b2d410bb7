#pragma once

#include <cstdint>

#include <reprise/engine/completion.hpp>
#include <reprise/retry/retry_progress.hpp>

#include "engine_timer.hpp"
#include "intrusive_list.hpp"
#include "operations/operation_history.hpp"
#include "operations/retry_decider.hpp"

namespace reprise::engine {

// Where an operation is in its life. Only `lifecycle` changes it.
enum class operation_state : std::uint8_t {
    free,       // not started, or ended
    running,    // being worked on inside one engine call
    parked,     // waits for its retry, or for what it needs: a configuration, connection, name
    deciding,   // the strategy will answer
    queued,     // waits for its turn on a connection; nothing sent
    in_flight,  // a connection has its request; no whole answer yet
};

// What every operation has, whatever its service: its state, its time, its retries and its
// completion. It has one timer (the retry that is due, or the deadline) and is in one list at a
// time. The life cycle: lifecycle.hpp.
struct operation_base : engine_timer, list_hook {
    explicit operation_base(timer_kind kind) noexcept : engine_timer(kind) {}

    operation_state state = operation_state::free;
    bool holds_place = false;  // counts among the operations that wait
    // Parked without a retry being due: only the wake-up or the deadline ends it.
    bool is_silent = false;

    // Retries so far, and why.
    retry_reason last_reason = retry_reason::unknown;
    std::uint32_t decision = 0;  // number of the question a strategy is working on
    retry_progress progress;
    retry_reason_set reasons;
    failed_attempt failed;  // the attempt a strategy is working on

    std::int32_t endpoint = -1;  // number of the endpoint chosen last; negative: none
    time_point started{};
    time_point deadline = no_deadline;
    operation_history history;
    completion done;
};

}  // namespace reprise::engine
