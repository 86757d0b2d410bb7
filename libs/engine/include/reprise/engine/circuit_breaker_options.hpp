#pragma once

#include <cstdint>
#include <functional>
#include <system_error>

#include <reprise/retry/time.hpp>

// Needs the standard library and reprise::retry only; part of the vocabulary that users see.

namespace reprise::engine {

// Keeps requests away from an endpoint that has stopped answering. Each endpoint has a breaker of
// its own:
//
//     closed --(too many failures)--> open --(sleep over)--> half open --(canary answered)-->
//     closed
//                                       ^----------(canary failed)-----'
//
// Only `closed` lets requests through; the others wait as CIRCUIT_BREAKER_OPEN, nothing sent. The
// canary is a NOOP of the client's own, for HTTP a GET of the service's health path.
struct circuit_breaker_options {
    // Requests within the window before it may open; at least 1.
    std::uint32_t volume_threshold = 20;
    // Opens when at least this share of them failed; 1..100.
    std::uint32_t error_threshold_percent = 50;
    // Requests that ended longer ago do not count. It rolls in thirty steps: what leaves it leaves
    // between 29 and 30 thirtieths of it after its end.
    duration rolling_window = std::chrono::seconds{60};
    // How long it stays open before the canary is sent.
    duration sleep_window = std::chrono::seconds{5};
    // A canary without an answer for so long has failed.
    duration canary_timeout = std::chrono::seconds{5};
    // Whether the end of a request (no error: success) counts against the endpoint. Asked for each
    // request that was sent, on the engine's thread; must not throw. Null: timeouts count, and
    // nothing else does.
    std::function<bool(const std::error_code& outcome)> is_failure{};
};

}  // namespace reprise::engine
