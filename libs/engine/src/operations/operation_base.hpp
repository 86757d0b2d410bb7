#pragma once

#include <cstdint>

#include <reprise/engine/completion.hpp>
#include <reprise/retry/retry_progress.hpp>

#include "engine_timer.hpp"
#include "operations/operation_history.hpp"
#include "operations/retry_decider.hpp"

namespace reprise::engine {

// What every operation has, whatever its service: its time, its retries and who learns its end. Its
// timer is the retry that is due, or the deadline.
//
//     start -> dispatch -> sent -> answered: complete
//                 |          |
//                 v          v
//               parked <-- failed: decisions        (parked: until its time, or its cause ends)
//
struct operation_base : engine_timer {
    explicit operation_base(timer_kind kind) noexcept : engine_timer(kind) {}

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
