#pragma once

/// The `Retry-After` field of HTTP: the only parser of it and of its dates.

#include <chrono>
#include <optional>
#include <string_view>

#include <reprise/retry/detail/export.hpp>

namespace reprise {

/// Larger values are ignored as bogus, unless the caller names another limit.
inline constexpr std::chrono::seconds retry_after_max = std::chrono::hours{24};

/// How long the sender of a `Retry-After` field asks you to wait, counted from `now`: a number of
/// seconds, or a date in any of the three forms of RFC 9110. 0 for a date that has passed. Empty if
/// the value is neither, or longer than `longest`; ignore such a field as if it were missing.
[[nodiscard]] REPRISE_EXPORT std::optional<std::chrono::seconds> parse_retry_after(
    std::string_view value, std::chrono::sys_seconds now,
    std::chrono::seconds longest = retry_after_max) noexcept;

/// "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT" or "Sun Nov  6 08:49:37 1994".
/// A year of two digits that would lie more than 50 years after `now` is of the century before. The
/// name of the day is not compared with the date. Empty if it is none of these.
[[nodiscard]] REPRISE_EXPORT std::optional<std::chrono::sys_seconds> parse_http_date(
    std::string_view text, std::chrono::sys_seconds now) noexcept;

}  // namespace reprise
