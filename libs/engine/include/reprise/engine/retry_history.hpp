#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/engine/retry_reason.hpp>
#include <reprise/retry/bounded_history.hpp>
#include <reprise/retry/decision.hpp>
#include <reprise/retry/time.hpp>

// What happened to an operation before its last attempt. Needs the standard library and
// reprise::retry only; part of the vocabulary that users see.

namespace reprise::engine {

// How far an attempt had come when it failed.
enum class attempt_stage : std::uint8_t {
    dispatch,  // nothing was sent
    network,   // sent, no answer
    response,  // the server answered
};

[[nodiscard]] std::string_view to_string(attempt_stage stage) noexcept;

// One failed attempt and what was decided about it. 16 bytes.
struct history_entry {
    static constexpr std::uint8_t no_endpoint = 0xff;

    std::uint32_t offset_us = 0;  // since the operation was started; saturates after 71 minutes
    std::uint32_t delay_us = 0;   // wait before the next attempt; 0 when not retried or at once
    std::uint16_t status = 0;     // the server's status; 0 without an answer
    std::uint16_t attempt = 0;    // retries made before this failure; saturates
    retry_reason reason = retry_reason::unknown;
    attempt_stage stage = attempt_stage::dispatch;
    std::uint8_t endpoint = no_endpoint;  // index into retry_history::endpoints
    refusal_reason refusal = refusal_reason::none;

    [[nodiscard]] duration offset() const noexcept { return std::chrono::microseconds{offset_us}; }
    [[nodiscard]] duration delay() const noexcept { return std::chrono::microseconds{delay_us}; }
};

static_assert(sizeof(history_entry) == 16);

// The first 8 and the last 24 entries, and how many there were. A plain value that owns its text.
struct retry_history {
    bounded_history<history_entry> entries;
    // "host:port" of the nodes the entries name, each once.
    std::vector<std::string> endpoints;
    // Why there was no connection to each of them when the operation ended, as far as that is
    // known: "connection refused".
    std::vector<std::string> problems;
    // The statuses are HTTP's; otherwise they are those of the key-value protocol.
    bool has_http_statuses = false;

    // The name behind an entry's index; empty if it has none.
    [[nodiscard]] std::string_view endpoint_of(const history_entry& entry) const noexcept;
    // Likewise, why that node could not be reached; empty for attempts that were sent.
    [[nodiscard]] std::string_view problem_of(const history_entry& entry) const noexcept;
};

// One line for each entry:
// "+1.2 ms  KV_NOT_MY_VBUCKET (0x07) at 10.0.0.1:11210, response; retried after 1 ms"
// "+1.5 ms  NODE_NOT_AVAILABLE at 10.0.0.1:11210 (connection refused), dispatch; retried after 1
// ms"
// "+2.0 ms  VIEWS_TEMPORARY_FAILURE (503) at 10.0.0.1:8092, response; retried after 1 ms"
[[nodiscard]] std::string to_string(const retry_history& history);

}  // namespace reprise::engine
