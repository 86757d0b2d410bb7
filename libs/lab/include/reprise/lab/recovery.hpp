#pragma once

/// When is a system well again? A pure function of what was counted.

#include <cstdint>
#include <span>

#include <reprise/lab/slot.hpp>
#include <reprise/retry/time.hpp>

namespace reprise::lab {

enum class recovery_outcome : std::uint8_t {
    recovered,
    never,               ///< Not within the run.
    not_healthy_before,  ///< Less than 95 % of requests succeeded before the outage, too.
    no_outage,           ///< There was nothing to recover from.
};

struct recovery {
    recovery_outcome outcome = recovery_outcome::no_outage;
    /// From the outage's end to the start of the first five good seconds; only when recovered.
    duration after{};

    friend bool operator==(const recovery&, const recovery&) = default;
};

/// When the outage was, in a run whose counters are given as slots of `slot_length`.
struct outage_window {
    duration start{};
    duration length{};
};

/// Recovered means: five seconds on end in each of which useful answers reach 95 % of the level
/// before the outage. The level is useful answers per offered request, so that the randomness of
/// arrivals does not look like illness. The first second of the run is left out of the level.
[[nodiscard]] recovery find_recovery(std::span<const slot> slots, const outage_window& outage);

}  // namespace reprise::lab
