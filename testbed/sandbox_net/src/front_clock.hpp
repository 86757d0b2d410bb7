#pragma once

#include <chrono>

#include <reprise/sandbox/ids.hpp>

namespace reprise::sandbox::detail {

// The cluster's time: the wall clock at the start plus the steady clock since, so it never goes
// backwards. Converts back to the steady clock for timers.
class front_clock {
public:
    using steady = std::chrono::steady_clock;

    time_point now() const noexcept { return wall_start_ + (steady::now() - steady_start_); }

    steady::time_point to_steady(time_point time) const noexcept {
        return steady_start_ + std::chrono::duration_cast<steady::duration>(time - wall_start_);
    }

private:
    steady::time_point steady_start_ = steady::now();
    time_point wall_start_ =
        std::chrono::time_point_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now());
};

}  // namespace reprise::sandbox::detail
