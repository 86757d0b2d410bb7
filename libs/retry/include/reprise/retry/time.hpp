#pragma once

/// Time as the library sees it: plain values. Nothing that decides reads a clock; the driver of an
/// operation passes the time in. See `clock.hpp` for the one interface that does read it.

#include <chrono>

namespace reprise {

/// All durations are nanoseconds. Any `std::chrono` duration of coarser or equal precision
/// converts.
using duration = std::chrono::nanoseconds;

/// Points in time come from a steady clock: they never jump, and they are no calendar dates.
using time_point = std::chrono::time_point<std::chrono::steady_clock, duration>;

namespace driver {

/// "No deadline": later than every other time point.
inline constexpr time_point no_deadline = time_point::max();

/// `at + delta`, held inside the range of `time_point` instead of overflowing.
[[nodiscard]] constexpr time_point add_saturated(time_point at, duration delta) noexcept {
    const auto base = at.time_since_epoch().count();
    const auto step = delta.count();
    if (step > 0 && base > duration::max().count() - step) {
        return time_point::max();
    }
    if (step < 0 && base < duration::min().count() - step) {
        return time_point::min();
    }
    return time_point{duration{base + step}};
}

/// Negative durations count as zero.
[[nodiscard]] constexpr duration at_least_zero(duration value) noexcept {
    return value < duration::zero() ? duration::zero() : value;
}

/// `to - from`, at least zero and held inside the range of `duration` instead of overflowing.
[[nodiscard]] constexpr duration time_between(time_point from, time_point to) noexcept {
    if (to <= from) {
        return duration::zero();
    }
    const auto upper = to.time_since_epoch().count();
    const auto lower = from.time_since_epoch().count();
    if (lower < 0 && upper > duration::max().count() + lower) {
        return duration::max();
    }
    return duration{upper - lower};
}

/// The time left at `now` before `deadline`; zero when it has passed, `duration::max()` without
/// one.
[[nodiscard]] constexpr duration time_left(time_point now, time_point deadline) noexcept {
    return deadline == no_deadline ? duration::max() : time_between(now, deadline);
}

}  // namespace driver

}  // namespace reprise
