#pragma once

/// Operations, errors, latencies and retry reasons, as the users of the client saw them.

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include <reprise/couchbase.hpp>
#include <reprise/retry/driver/metrics_text.hpp>

namespace reprise::demo {

using retry_counts = std::array<std::uint64_t, couchbase::retry_reason_count>;

/// The figures of one phase, or of several combined.
struct figures {
    std::uint64_t operations = 0;  // ended with any result
    std::uint64_t errors = 0;      // reported to the user ...
    std::uint64_t ambiguous = 0;   // ... of which this many may have been applied
    std::map<std::string, std::uint64_t> errors_by_name{};
    retry_counts retries{};
    driver::latency_histogram latency{};
    duration slowest{};

    void add(const figures& other);
    /// The time below which this share (0 to 1) of the operations ended; zero if there were none.
    [[nodiscard]] duration percentile(double share) const noexcept;
    [[nodiscard]] std::uint64_t retry_total() const noexcept;
};

/// The protocol of an operation.
enum class traffic : std::uint8_t { key_value, http };

/// The figures of both protocols, kept apart because an HTTP request costs more than a key-value
/// operation.
struct traffic_figures {
    figures key_value{};
    figures http{};

    void add(const traffic_figures& other) {
        key_value.add(other.key_value);
        http.add(other.http);
    }
};

/// "KV_LOCKED 12, SOCKET_NOT_AVAILABLE 3", most frequent first; empty if there are none.
[[nodiscard]] std::string to_text(const retry_counts& retries, std::size_t count_max = 99);

/// "0.42 ms", "18 ms", "1.2 s".
[[nodiscard]] std::string to_text(duration time);

/// Collects figures on the load's thread for other threads.
class measurements {
public:
    /// Records one operation that ended. `failure` is null for a success, `history` if nothing was
    /// retried.
    void record(
        traffic by, duration latency, const couchbase::error* failure,
        const couchbase::retry_history* history);

    /// The figures since the last `take`.
    [[nodiscard]] traffic_figures peek() const;
    [[nodiscard]] traffic_figures take();
    /// The figures since the last `take_recent`; independent of `take`.
    [[nodiscard]] traffic_figures take_recent();

private:
    mutable std::mutex mutex_;
    traffic_figures current_;
    traffic_figures recent_;
};

}  // namespace reprise::demo
