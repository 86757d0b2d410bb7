#pragma once

/// Facts of HTTP responses, for any HTTP client: status and `Retry-After` in, facts out.

#include <chrono>
#include <string_view>

#include <reprise/retry/detail/export.hpp>
#include <reprise/retry/failure_facts.hpp>
#include <reprise/retry/retry_after.hpp>

namespace reprise {

/// Options of `http_facts`.
struct http_facts_options {
    /// A `Retry-After` above this is ignored as bogus.
    std::chrono::seconds retry_after_max = reprise::retry_after_max;
};

/// Facts of a response without a `Retry-After` field. 429 is throttling; 408 and 504 are timeouts;
/// 4xx is the client's fault, 5xx the server's. Safety: 408 (the request did not arrive whole) and
/// 429 yes; every 5xx maybe, because a gateway may have passed the request on; other 4xx no. Below
/// 400: empty facts (no failure).
[[nodiscard]] REPRISE_EXPORT failure_facts http_facts(int status) noexcept;

/// The same with a minimum wait. `retry_after` is the field's text (see `parse_retry_after`), empty
/// if there was none; `now` is the calendar time that a date in it is compared with. A text that is
/// neither a number of seconds nor a date, or that asks for more than `retry_after_max`, counts as
/// none.
[[nodiscard]] REPRISE_EXPORT failure_facts http_facts(
    int status, std::string_view retry_after, std::chrono::sys_seconds now,
    const http_facts_options& options = {}) noexcept;

/// The connection could not be made: nothing was sent, a retry is safe.
[[nodiscard]] REPRISE_EXPORT failure_facts http_connect_failure() noexcept;

}  // namespace reprise
