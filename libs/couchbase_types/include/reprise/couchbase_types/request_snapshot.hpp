#pragma once

/// The request as a retry strategy sees it, in addition to what every strategy is asked
/// (`reprise::driver::retry_question`).

#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>

#include <reprise/couchbase_types/retry_reason.hpp>
#include <reprise/retry/driver/retry_question.hpp>

namespace reprise::driver {
class retry_strategy;
}  // namespace reprise::driver

namespace reprise::couchbase {

/// How the delays of an error map's rule grow.
enum class server_backoff : std::uint8_t { constant, linear, exponential };

/// The waiting rule that the server's error map has for the status of this failure, and where the
/// request stands in it. Another status starts the rule again.
struct server_retry_rule {
    server_backoff kind = server_backoff::constant;
    duration interval{};                     ///< At least 1 ms.
    duration after{};                        ///< Before the first retry.
    std::optional<duration> ceil{};          ///< Of linear and exponential delays.
    std::optional<duration> floor{};         ///< Of all delays; never above `ceil`.
    std::optional<duration> max_duration{};  ///< From the first failure; absent: no limit.
    std::uint32_t retries = 0;               ///< Made for this status so far.
    time_point first_failure{};              ///< With this status.
    /// When the next retry is planned: a delay after the time planned for the last one, however
    /// late that was. May have passed.
    time_point due{};

    /// True if the rule ends before the next retry is due, and not because of the request's own
    /// deadline. Retries happen before the end, never at it.
    [[nodiscard]] bool is_over(time_point deadline) const noexcept {
        if (!max_duration) {
            return false;
        }
        const time_point end = driver::add_saturated(first_failure, *max_duration);
        return due >= end && end <= deadline;
    }
};

/// The failure in Couchbase's terms. Valid during the call; copy it to keep it (cheap, no deep
/// copies).
struct request_snapshot {
    std::string_view operation{};  ///< "get", "upsert", ...; static text.
    bool is_idempotent = false;
    const driver::retry_strategy* strategy = nullptr;  ///< The one that is asked.
    /// Reasons of the earlier retries, the present one not included.
    retry_reason_set retry_reasons{};
    /// The error that the user gets if it is not retried.
    std::error_code error{};
    /// The server's status when it answered, otherwise 0.
    std::uint16_t status = 0;
    /// For a status that is unknown to this client; absent if the server gave no usable rule.
    std::optional<server_retry_rule> server_rule{};
    /// The server promised such a rule (auto-retry, or fields of one), and it cannot be used.
    bool is_server_rule_unusable = false;
};

/// The snapshot behind a question; an empty one outside of the Couchbase client.
[[nodiscard]] const request_snapshot& request_of(const driver::retry_question& question) noexcept;
/// The reason of the failure; `unknown` outside of the Couchbase client.
[[nodiscard]] inline retry_reason reason_of(const driver::retry_question& question) noexcept {
    return question.reason.as<retry_reason>();
}

}  // namespace reprise::couchbase
