#pragma once

/// When a system has recovered, as a pure function of the counters.

#include <cstdint>
#include <span>

#include <reprise/lab/slot.hpp>
#include <reprise/retry/time.hpp>

namespace reprise::lab {

enum class recovery_outcome : std::uint8_t {
    recovered,
    never,               ///< Not within the run.
    not_healthy_before,  ///< Less than 95 % of requests succeeded even before the outage.
    no_outage,           ///< There was nothing to recover from.
};

struct recovery {
    recovery_outcome outcome = recovery_outcome::no_outage;
    /// Time from the end of the outage to the start of the first five good seconds. Set only if
    /// recovered.
    duration after{};

    [[nodiscard]] bool has_recovered() const noexcept {
        return outcome == recovery_outcome::recovered;
    }
    friend bool operator==(const recovery&, const recovery&) = default;
};

/// When the outage took place, in a run whose counters are in slots of `slot_length`.
struct outage_window {
    duration start{};
    duration length{};
};

/// A system has recovered if, for five consecutive seconds, useful answers reach 95 % of the level
/// before the outage in each second. The level is useful answers per offered request, so that
/// random arrivals do not look like a failure. It does not include the first second of the run.
[[nodiscard]] recovery find_recovery(std::span<const slot> slots, const outage_window& outage);

}  // namespace reprise::lab
