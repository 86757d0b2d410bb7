#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace reprise::services {

// Durations as the query, analytics and management services write them: Go's text form, a sign and
// numbers with units ("1m30.5s", "84.5µs", "75000ms", "0").

// Units: ns, us, µs (either code point), ms, s, m, h. Fractions below a nanosecond are cut off.
// Empty if the text is no duration or does not fit 64 bits of nanoseconds.
std::optional<std::chrono::nanoseconds> parse_go_duration(std::string_view text) noexcept;

// The form in which clients send timeouts: "75000ms".
std::string to_millisecond_text(std::chrono::milliseconds duration);

}  // namespace reprise::services
