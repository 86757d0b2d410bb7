#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace reprise::services {

// Durations as the query, analytics and management services write them: Go's text form, which is a
// sign and numbers with units ("1m30.5s", "84.5µs", "75000ms", "0").

/// The units are ns, us, µs (either code point), ms, s, m and h. Truncates fractions of a
/// nanosecond. Returns nothing if the text is not a duration or does not fit 64 bits of
/// nanoseconds.
std::optional<std::chrono::nanoseconds> parse_go_duration(std::string_view text) noexcept;

/// Returns the form in which clients send timeouts, for example "75000ms".
std::string to_millisecond_text(std::chrono::milliseconds duration);

}  // namespace reprise::services
