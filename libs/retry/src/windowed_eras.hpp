#pragma once

/// How a windowed budget counts time: a tick is the lower half of the milliseconds, which wraps
/// after 49 days; an era is half of that.

#include <chrono>
#include <cstdint>

#include <reprise/retry/time.hpp>

namespace reprise::detail {

[[nodiscard]] inline std::int64_t milliseconds_of(time_point now) noexcept {
    return std::chrono::floor<std::chrono::milliseconds>(now.time_since_epoch()).count();
}

[[nodiscard]] inline std::uint32_t tick_of(time_point now) noexcept {
    return static_cast<std::uint32_t>(static_cast<std::uint64_t>(milliseconds_of(now)));
}

/// If two times are of the same era or of neighbouring ones, the difference of their ticks is
/// exact.
[[nodiscard]] inline std::int64_t era_of(time_point now) noexcept {
    return milliseconds_of(now) >> 31;
}

/// The eras from that of a word with `tick` to that of `now`; `era` was published before the word
/// was read. The highest bit of a tick is the lowest of its era: a word with that of `now` is of
/// the new era already, which the thread that wrote it has not published yet.
[[nodiscard]] inline std::int64_t eras_since(
    std::uint32_t tick, std::int64_t era, time_point now) noexcept {
    const std::int64_t passed = era_of(now) - era;
    const bool is_of_new_era = ((tick ^ tick_of(now)) >> 31U) == 0;
    return passed == 1 && is_of_new_era ? 0 : passed;
}

}  // namespace reprise::detail
