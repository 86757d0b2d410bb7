#pragma once

/// The options of a storm model: clients, one server with a queue, and one outage. The same options
/// with the same seed give the same run, byte for byte.

#include <cstddef>
#include <cstdint>
#include <optional>

#include <reprise/lab/slot.hpp>
#include <reprise/retry/standard_strategy.hpp>

namespace reprise::lab {

/// What the server does between the outage's start and end.
enum class outage_kind : std::uint8_t {
    /// It stalls: nothing is answered, but what arrives is queued. The server processes all of it
    /// afterwards, even if the clients are no longer waiting.
    stalled,
    /// It is down: everything queued or arriving is answered immediately with an error, as by a
    /// host whose process has died.
    refusing,
};

/// How long one piece of work takes. The mean is 1 / capacity in both cases.
enum class service_time : std::uint8_t {
    exponential,  ///< Varies as in an M/M/1 queue.
    fixed,        ///< Always the mean (M/D/1).
};

struct storm_options {
    /// Determines all randomness of the run.
    std::uint64_t seed = 1;
    /// Each client has its own strategy object and so its own bucket. 1 to 1,000,000.
    std::uint32_t clients = 20;
    /// Requests per second of all clients together, arriving as a Poisson process. Above 0.
    double requests_per_second = 750.0;
    /// Requests per second that the server can process. Above 0, at most 10,000,000.
    double capacity_per_second = 1000.0;
    lab::service_time service_time = lab::service_time::exponential;
    /// Requests that may wait at the server in addition to the one in service. The server rejects
    /// any more immediately with a throttling error. At most 10,000,000.
    std::size_t queue_limit = 2000;
    /// The share of the work that ends in an error although the server is healthy, 0 to 1. Retries
    /// exist for these errors.
    double fault_share = 0.01;
    /// The share of answers that arrive late by `slow_delay` although the server worked in time: a
    /// slow path through the network, or a paused process. Hedging exists for these. 0 to 1.
    double slow_share = 0.0;
    /// 0 to 1 h.
    duration slow_delay = std::chrono::milliseconds{300};
    /// With the standard strategy, an attempt without an answer after this time gets a second one
    /// beside it, paid for like a retry. 1 us to 1 h. Absent: no hedging.
    std::optional<duration> hedge_delay{};
    /// The delay from client to server, and again for the answer. 0 to 10 s.
    duration network_delay = std::chrono::milliseconds{1};
    /// A client gives up an attempt after this time. The server does not notice. 1 us to 1 h.
    duration attempt_timeout = std::chrono::milliseconds{500};
    outage_kind outage = outage_kind::stalled;
    /// Time from the start of the run. At least 2 s, so that there is a healthy period to compare
    /// with.
    duration outage_start = std::chrono::seconds{10};
    /// 0 means no outage. The run must continue for at least 5 s afterwards.
    duration outage_length = std::chrono::seconds{10};
    /// Length of the run in virtual time: a multiple of `slot_length`, at most 1 day.
    duration length = std::chrono::seconds{60};
    /// Attempts per request of both retrying policies, including the first. 1 to 100.
    std::uint32_t attempts_max = 5;
    /// The standard strategy of each client. Its `attempts_max` is the one above.
    standard_options standard{};
};

/// The maximum number of requests of one run, as expected from rate and length. It limits time and
/// memory.
inline constexpr double requests_max = 20'000'000.0;

/// Returns the first invalid option, if any, with the name of the member.
[[nodiscard]] std::optional<settings_error> check(const storm_options& options);

}  // namespace reprise::lab
