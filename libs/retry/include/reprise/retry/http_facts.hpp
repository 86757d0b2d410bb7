#pragma once

/// Facts of HTTP responses, for any HTTP client: status and `Retry-After` in, facts out.

#include <chrono>
#include <optional>
#include <string_view>

#include <reprise/retry/detail/compiler.hpp>
#include <reprise/retry/failure_facts.hpp>

namespace reprise {

namespace detail {

/// Larger values are ignored as bogus, unless the caller names another limit.
inline constexpr std::chrono::seconds retry_after_max = std::chrono::hours{24};

}  // namespace detail

namespace driver {

/// The wait that the sender of a `Retry-After` field asks for, counted from `now`: a number of
/// seconds, or a date in any of the three forms of RFC 9110. 0 for a date that has passed. Empty if
/// the value is neither, or longer than `longest`; ignore such a field as if it were missing.
[[nodiscard]] REPRISE_EXPORT std::optional<std::chrono::seconds> parse_retry_after(
    std::string_view value, std::chrono::sys_seconds now,
    std::chrono::seconds longest = detail::retry_after_max) noexcept;

/// "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT" or "Sun Nov  6 08:49:37 1994".
/// A year of two digits that would lie more than 50 years after `now` is of the century before. The
/// name of the day is not compared with the date. Empty if it is none of these.
[[nodiscard]] REPRISE_EXPORT std::optional<std::chrono::sys_seconds> parse_http_date(
    std::string_view text, std::chrono::sys_seconds now) noexcept;

}  // namespace driver

/// Facts of a response without a `Retry-After` field. 429 is throttling; 408 and 504 are timeouts;
/// 4xx is the client's fault, 5xx the server's. Safety: 408 (the request did not arrive whole) and
/// 429 yes; every 5xx maybe, because a gateway may have passed the request on; other 4xx no. Below
/// 400: empty facts (no failure).
[[nodiscard]] REPRISE_EXPORT failure_facts http_facts(int status) noexcept;

/// The same with a minimum wait. `retry_after` is the field's text (see
/// `driver::parse_retry_after`), empty if there was none; `now` is the calendar time that a date in
/// it is compared with. A text that is neither a number of seconds nor a date, or that asks for
/// more than `retry_after_max`, counts as none.
[[nodiscard]] REPRISE_EXPORT failure_facts http_facts(
    int status, std::string_view retry_after, std::chrono::sys_seconds now,
    std::chrono::seconds retry_after_max = detail::retry_after_max) noexcept;

}  // namespace reprise
