#pragma once

/// One server with a queue. It knows nothing about clients, retries or events: callers pass the
/// time, and it returns when its next piece of work will be done.

#include <cstdint>
#include <deque>
#include <vector>

#include <reprise/lab/storm_options.hpp>

#include "random_stream.hpp"

namespace reprise::lab {

/// Later than every event.
inline constexpr duration never = duration::max();

/// Identifies one attempt of one request. It is outdated once the request has moved on: its slot
/// then has another generation.
struct attempt_id {
    std::uint32_t request = 0;
    std::uint32_t generation = 0;
    std::uint32_t part = 0;  ///< 1: a hedge beside part 0.

    friend bool operator==(const attempt_id&, const attempt_id&) = default;
};

/// The server's decision about an arrival.
enum class admission : std::uint8_t {
    queued,   ///< Will be processed in order.
    full,     ///< Rejected: the queue has reached its limit.
    refused,  ///< The server is down.
};

class server_model {
public:
    explicit server_model(const storm_options& options)
        : limit_(options.queue_limit),
          outage_(options.outage),
          fixed_(options.service_time == service_time::fixed),
          mean_ns_(1e9 / options.capacity_per_second),
          random_(options.seed, 2) {}

    [[nodiscard]] admission arrive(attempt_id attempt, duration now);

    /// When to call `complete`; `never` while idle or stalled.
    [[nodiscard]] duration next_completion() const noexcept { return completion_; }

    /// Completes the work due at `next_completion()` and starts the next.
    [[nodiscard]] attempt_id complete();

    /// Appends what a crash drops from the queue to `dropped`; answer these with an error.
    void start_outage(duration now, std::vector<attempt_id>& dropped);
    void end_outage(duration now);

    /// Includes the attempt in service.
    [[nodiscard]] std::uint32_t waiting() const noexcept {
        return static_cast<std::uint32_t>(queue_.size());
    }

private:
    void start_work(duration now);

    std::size_t limit_;
    outage_kind outage_;
    bool fixed_;
    double mean_ns_;
    random_stream random_;
    std::deque<attempt_id> queue_;  ///< The first one is in service.
    duration completion_ = never;
    bool out_ = false;
    duration work_left_{};  ///< Of the first one while stalled; 0 if not started.
};

}  // namespace reprise::lab
