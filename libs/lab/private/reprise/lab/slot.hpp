#pragma once

/// Counters of a run over time.

#include <cstdint>
#include <span>
#include <vector>

#include <reprise/retry/time.hpp>

namespace reprise::lab {

/// The length of the slots in which a run counts.
inline constexpr duration slot_length = std::chrono::milliseconds{100};

/// Counters of one service in one interval of virtual time. The last two members are levels at its
/// end.
struct slot {
    std::uint32_t offered = 0;   ///< Calls started by callers.
    std::uint32_t attempts = 0;  ///< Attempts that reached the service: its load.
    std::uint32_t useful = 0;    ///< Answers that reached a caller still waiting for them.
    std::uint32_t wasted = 0;    ///< Work done for attempts that callers had given up.
    std::uint32_t errors = 0;    ///< Attempts rejected without work.
    std::uint32_t failed = 0;    ///< Calls that failed for good.
    std::uint32_t waiting = 0;   ///< Attempts in the service's queues or being worked on.
    /// Level of the callers' buckets together, 1 if full or if they have none.
    double bucket_share = 1.0;
};

/// Joins `factor` consecutive slots into one: counters are added, and levels are those of the last
/// slot. Drops an incomplete group at the end. `factor` must be above 0.
[[nodiscard]] std::vector<slot> join_slots(std::span<const slot> slots, std::size_t factor);

}  // namespace reprise::lab
