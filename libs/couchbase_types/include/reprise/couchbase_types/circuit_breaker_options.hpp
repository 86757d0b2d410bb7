#pragma once

#include <cstdint>
#include <functional>
#include <system_error>

#include <reprise/retry/circuit_breaker_fsm.hpp>

namespace reprise::couchbase {

/// Keeps requests away from an endpoint that has stopped answering. Each endpoint has its own
/// breaker:
/// ```
///     closed --(too many failures)--> open --(sleep over)--> half open
///       ^                               ^--(canary failed)------|
///       '---------------------------------(canary answered)-----'
/// ```
/// Only `closed` lets requests through. Otherwise they wait as CIRCUIT_BREAKER_OPEN and nothing is
/// sent. The canary is a NOOP of the client's own, or for HTTP a GET of the service's health path.
struct circuit_breaker_options {
    /// Requests within the window before the breaker may open; at least 1.
    std::uint32_t volume_threshold = 20;
    /// The breaker opens when at least this share of them failed; 1 to 100.
    std::uint32_t error_threshold_percent = 50;
    /// Requests that ended longer ago do not count. The window rolls in thirty steps, so a request
    /// leaves it between 29 and 30 thirtieths of the window after its end.
    duration rolling_window = std::chrono::seconds{60};
    /// How long the breaker stays open before the canary is sent.
    duration sleep_window = std::chrono::seconds{5};
    /// A canary without an answer for this long has failed.
    duration canary_timeout = std::chrono::seconds{5};
    /// Whether the end of a request (no error: success) counts against the endpoint. Called for
    /// each request that was sent, on the client's thread; must not throw. Null: only timeouts
    /// count.
    std::function<bool(const std::error_code& outcome)> is_failure{};

    /// What the breaker itself needs to know.
    [[nodiscard]] reprise::circuit_breaker_options limits() const noexcept {
        return {
            volume_threshold, error_threshold_percent, rolling_window, sleep_window,
            canary_timeout};
    }
};

}  // namespace reprise::couchbase
