#pragma once

/// The load of `reprise verify --load`: writes for a while, then reads everything back. Nothing may
/// be lost or duplicated.

#include <chrono>
#include <functional>

#include "verify/outcome.hpp"
#include "verify/session.hpp"

namespace reprise::app {

inline constexpr std::chrono::seconds load_time_min{1};
inline constexpr std::chrono::seconds load_time_max{600};
/// Of all writers together, so that the load leaves room for other programs.
inline constexpr int load_writes_per_second_max = 1000;

/// Runs for `time`, or until `is_stopping` returns true. Removes its documents as it goes; those
/// that it cannot remove are left to the session's `clean_up`.
[[nodiscard]] check_outcome run_load(
    verify_session& session, std::chrono::seconds time, const std::function<bool()>& is_stopping);

}  // namespace reprise::app
