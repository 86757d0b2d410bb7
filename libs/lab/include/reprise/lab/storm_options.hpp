#pragma once

/// What a storm model is made of: clients, one server with a queue, and one outage. Plain numbers;
/// the same options with the same seed give the same run, byte for byte.

#include <cstddef>
#include <cstdint>
#include <optional>

#include <reprise/retry/standard_strategy.hpp>

namespace reprise::lab {

/// What the server does between the outage's start and end.
enum class outage_kind : std::uint8_t {
    /// It stands still: nothing is answered, but what arrives is queued, and all of it is worked
    /// through afterwards although nobody may be waiting for it any more.
    stalled,
    /// It is down: everything queued or arriving is answered with an error at once, as by a host
    /// whose
    /// process has died.
    refusing,
};

/// How long one piece of work takes; the mean is 1 / capacity in both cases.
enum class service_time : std::uint8_t {
    exponential,  ///< Varies as in the textbooks' M/M/1 queue.
    fixed,        ///< Always the mean (M/D/1).
};

struct storm_options {
    /// Every random draw of the run follows from it.
    std::uint64_t seed = 1;
    /// Each has its own strategy object and so its own bucket; 1 to 1,000,000.
    std::uint32_t clients = 20;
    /// Requests per second of all clients together, arriving as a Poisson process. Above 0.
    double requests_per_second = 750.0;
    /// Requests per second that the server can work off. Above 0, at most 10,000,000.
    double capacity_per_second = 1000.0;
    lab::service_time service_time = lab::service_time::exponential;
    /// Requests that may wait at the server beside the one in work; a further one is turned away at
    /// once with a throttling error. At most 10,000,000.
    std::size_t queue_limit = 2000;
    /// Work that ends in an error although the server is well, as a share of all; 0 to 1. This is
    /// what retries are for.
    double fault_share = 0.01;
    /// From client to server, and the same again for the answer. 0 to 10 s.
    duration network_delay = std::chrono::milliseconds{1};
    /// After this a client gives an attempt up. The server does not hear of it. 1 us to 1 h.
    duration attempt_timeout = std::chrono::milliseconds{500};
    outage_kind outage = outage_kind::stalled;
    /// From the start of the run; at least 2 s, so that there is a healthy time to compare with.
    duration outage_start = std::chrono::seconds{10};
    /// 0 (no outage) or more; the run must go on for at least 5 s afterwards.
    duration outage_length = std::chrono::seconds{10};
    /// Length of the run in virtual time; whole multiples of `slot_length`, at most 1 day.
    duration length = std::chrono::seconds{60};
    /// Attempts per request of both retrying policies, the first included; 1 to 100.
    std::uint32_t attempts_max = 5;
    /// The standard strategy of each client; its `attempts_max` is taken from above.
    standard_options standard{};
};

/// Counters are kept per slot of this length.
inline constexpr duration slot_length = std::chrono::milliseconds{100};

/// Requests one run may make at most, as expected from rate and length: bounds time and memory.
inline constexpr double requests_max = 20'000'000.0;

/// The first option that cannot work, if any; the field is named as in the struct.
[[nodiscard]] std::optional<settings_error> check(const storm_options& options);

}  // namespace reprise::lab
