#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace reprise::base {

/// Parses one or more numbers, each with its unit: "500ms", "2.5s", "1m30s". The units are ns, us,
/// ms, s, m and h. Returns nothing if the text is malformed or the duration exceeds a year.
std::optional<std::chrono::nanoseconds> parse_duration_text(std::string_view text) noexcept;

/// Parses the same notation, or a bare number of milliseconds. A duration other than zero must be
/// at least 1 ms. Returns nothing if the text is malformed or the duration exceeds 24 days.
std::optional<std::chrono::milliseconds> parse_milliseconds(std::string_view text) noexcept;

}  // namespace reprise::base
