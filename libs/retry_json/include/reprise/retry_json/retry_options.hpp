#pragma once

/// Retry settings as a plain struct: the options of the retry library's own strategies, budgets and
/// breakers, put together. Files describe them (`strategy_from_json.hpp`); the lab simulates them.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <reprise/retry/budget.hpp>
#include <reprise/retry/circuit_breaker.hpp>
#include <reprise/retry/driver/composed_strategy.hpp>
#include <reprise/retry/token_bucket.hpp>

namespace reprise::retry_json {

/// Whether each client of a simulated layer has its own budget or breaker, or all share one.
enum class sharing : std::uint8_t { per_client, shared };

/// A token bucket and its prices (`reprise::driver::token_bucket_budget`).
struct bucket_options {
    token_bucket::options bucket{};
    driver::retry_prices prices{};
};

/// The budget that pays for retries. Empty: retries are free.
using budget_options =
    std::variant<std::monostate, bucket_options, failure_throttle_options, windowed_budget_options>;

/// When to send a second attempt in parallel with a slow one. It is paid for like a retry.
struct hedge_options {
    /// Send it after this time; 1 us to 1 h.
    duration delay = std::chrono::milliseconds{50};
    /// If set, `delay` only applies until 100 answers are known; from then on, hedge after this
    /// percentile of the latencies of recent successful attempts. Above 0, below 100.
    std::optional<double> percentile{};
};

/// Wakes calls that wait for a retry when the trouble ends, for clients that are notified of it (by
/// a new cluster configuration, for example).
struct wake_options {
    /// Waiting calls sent per second; absent: all at once. Above 0.
    std::optional<double> per_second{};
};

/// Retry settings. Members marked *lab* only have an effect in simulations.
struct retry_options {
    /// All attempts, including the first; 1 to 1000. Absent: only time and budget limit them.
    std::optional<std::uint32_t> attempts_max = 3;
    driver::backoff_options backoff{};
    /// The backoff after throttling errors, if it differs.
    std::optional<driver::backoff_options> throttling_backoff{};
    /// If not empty: exactly these delays instead of `backoff`. The last one repeats. At most 100.
    std::vector<duration> delays{};
    budget_options budget{};
    sharing budget_sharing = sharing::per_client;  ///< *lab*
    std::optional<driver::circuit_breaker_options> breaker{};
    sharing breaker_sharing = sharing::shared;  ///< *lab*
    std::optional<hedge_options> hedge{};
    std::optional<wake_options> wake{};  ///< *lab*
    /// A caller gives up an attempt after this time. The service does not notice. 1 us to 1 day.
    /// Absent: it waits for the answer.
    std::optional<duration> attempt_timeout{};
    /// Time for the whole call, including retries; 1 us to 1 day. Absent: no limit.
    std::optional<duration> deadline{};
    /// *lab*: calls that a service makes on behalf of this call end when this caller gives up its
    /// attempt.
    bool propagates_deadline = false;
    /// *lab*: retries of those calls are taken from this call's allowance
    /// (`reprise::driver::retry_allowance`).
    bool passes_allowance = false;
};

/// Returns the first invalid option, if any, with the name of the member.
[[nodiscard]] std::optional<driver::settings_error> check(const retry_options& options);

/// A retry configuration by name.
struct retry_preset {
    std::string_view name;     ///< As written in files: "aws_standard".
    std::string_view summary;  ///< One line.
    retry_options options;
};

/// "none", "naive", "backoff", "standard", "smithy", "aws_standard", "aws_2_1", "grpc_a6",
/// "finagle", "envoy", "couchbase_best_effort", "couchbase_ladder". No preset sets a timeout or a
/// deadline, since those depend on the service.
[[nodiscard]] std::span<const retry_preset> retry_presets();

/// Returns null if there is no preset with this name.
[[nodiscard]] const retry_preset* find_retry_preset(std::string_view name);

}  // namespace reprise::retry_json
