#pragma once

/// What is counted over time in a run.

#include <cstdint>
#include <span>
#include <vector>

#include <reprise/retry/time.hpp>

namespace reprise::lab {

/// Counters of one stretch of virtual time; the last three are levels at its end.
struct slot {
    std::uint32_t offered = 0;   ///< Requests started by clients.
    std::uint32_t attempts = 0;  ///< Attempts that reached the server: its load.
    std::uint32_t useful = 0;    ///< Answers that reached a client still waiting for them.
    std::uint32_t wasted = 0;    ///< Work done for attempts that had been given up.
    std::uint32_t errors = 0;    ///< Attempts turned away: server down or queue full.
    std::uint32_t failed = 0;    ///< Requests given up for good.
    std::uint32_t waiting = 0;   ///< In the server's queue or in work.
    double bucket_share = 1.0;   ///< All buckets together, full = 1; 1 for policies without.
};

/// Joins `factor` neighbours into one: counters add up, levels are the last one's. An incomplete
/// group at the end is left out. `factor` must be above 0.
[[nodiscard]] std::vector<slot> join_slots(std::span<const slot> slots, std::size_t factor);

}  // namespace reprise::lab
