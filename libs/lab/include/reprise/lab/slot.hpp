#pragma once

/// What a run counts over time.

#include <cstdint>
#include <span>
#include <vector>

#include <reprise/retry/time.hpp>

namespace reprise::lab {

/// Counters of one interval of virtual time. The last two members are levels at its end.
struct slot {
    std::uint32_t offered = 0;   ///< Requests started by clients.
    std::uint32_t attempts = 0;  ///< Attempts that reached the server: its load.
    std::uint32_t useful = 0;    ///< Answers that reached a client still waiting for them.
    std::uint32_t wasted = 0;    ///< Work done for attempts that clients had given up.
    /// Attempts rejected because the server was down or its queue full.
    std::uint32_t errors = 0;
    std::uint32_t failed = 0;   ///< Requests that failed for good.
    std::uint32_t waiting = 0;  ///< Attempts in the server's queue or in service.
    /// Level of all buckets together, 1 if full or if the policy has none.
    double bucket_share = 1.0;
};

/// Joins `factor` consecutive slots into one: counters are added, and levels are those of the last
/// slot. Drops an incomplete group at the end. `factor` must be above 0.
[[nodiscard]] std::vector<slot> join_slots(std::span<const slot> slots, std::size_t factor);

}  // namespace reprise::lab
