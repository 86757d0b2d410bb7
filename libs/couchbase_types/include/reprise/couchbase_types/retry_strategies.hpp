#pragma once

/// The client's own strategies, and the question to a strategy in Couchbase's terms.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <system_error>

#include <reprise/couchbase_types/errc.hpp>
#include <reprise/couchbase_types/retry_reason.hpp>
#include <reprise/retry/driver/composed_strategy.hpp>
#include <reprise/retry/driver/retry_question.hpp>
#include <reprise/retry/driver/retry_strategy.hpp>
#include <reprise/retry/token_bucket.hpp>

namespace reprise::couchbase {

/// The growth of the delays of an error map's rule.
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

/// The strategies that come with the client.

/// Delay before retry number `attempts` (0 is the first); `random` is 64 uniform bits.
using backoff_calculator = std::function<duration(std::uint32_t attempts, std::uint64_t random)>;

/// 1, 2, 4, ... 256, 500, 500, ... ms: RFC 0049's rule for best effort, without jitter.
[[nodiscard]] backoff_calculator exponential_calculator();
/// Any rule of the retry library; with many clients full jitter spreads the load better.
[[nodiscard]] backoff_calculator jittered_calculator(
    const driver::backoff_options& options = {
        .base = std::chrono::milliseconds{1},
        .factor = 2.0,
        .cap = std::chrono::milliseconds{500},
        .jitter = reprise::jitter::full,
        .hint_excess_max = {}});

/// Retries whatever may be repeated safely, until the deadline. May be derived from: override
/// `retry_after`, handle your reasons, and call this one for the rest.
class best_effort_strategy : public driver::retry_strategy {
public:
    explicit best_effort_strategy(backoff_calculator calculator = exponential_calculator());
    void retry_after(const driver::retry_question& question, driver::retry_sink& sink) override;

private:
    backoff_calculator calculator_;
};

/// The default. As best effort, except that the five terminal reasons end the request at once with
/// a clear error instead of a timeout. What counts as terminal may grow with new servers. If you
/// need fixed behaviour, copy this class: docs/guide/couchbase.md shows a copy.
class fail_fast_on_terminal_error_strategy : public best_effort_strategy {
public:
    using best_effort_strategy::best_effort_strategy;
    void retry_after(const driver::retry_question& question, driver::retry_sink& sink) override;
};

/// The safe preset, for a cluster that many processes share: as the default, with full jitter and a
/// budget, which the default lacks because RFC 0049 has neither. Several clients share the budget
/// by sharing the strategy, or its bucket.
class budgeted_strategy final : public fail_fast_on_terminal_error_strategy {
public:
    explicit budgeted_strategy(
        driver::token_bucket_budget budget = {std::make_shared<token_bucket>()});
    void on_success(const driver::token_state& token, const driver::decision_context& at) override;
    [[nodiscard]] driver::retry_budget* paying_budget() noexcept override { return &budget_; }

private:
    driver::token_bucket_budget budget_;
};

/// Opt-in: as the default, except that an unknown status with a usable retry rule in the server's
/// error map is retried at the times the server planned. When the rule's max-duration is over, the
/// request fails with that status' own error, and so it does at once if the server promises a rule
/// that cannot be used. A status for which no rule is promised: best effort.
class server_directed_strategy : public fail_fast_on_terminal_error_strategy {
public:
    using fail_fast_on_terminal_error_strategy::fail_fast_on_terminal_error_strategy;
    void retry_after(const driver::retry_question& question, driver::retry_sink& sink) override;
};

}  // namespace reprise::couchbase
