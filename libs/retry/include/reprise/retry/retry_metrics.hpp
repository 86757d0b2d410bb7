#pragma once

/// Counters and latencies of a service's calls, as text for Prometheus.
/// ```
///     const auto metrics = std::make_shared<reprise::retry_metrics>();
///     const auto rule = reprise::attempts(3).every(10ms).observer(metrics)...;
///     std::cout << metrics->to_prometheus({.prefix = "shop", .labels = "service=\"prices\""});
/// ```

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include <reprise/retry/circuit_breaker.hpp>
#include <reprise/retry/clock.hpp>
#include <reprise/retry/detail/compiler.hpp>
#include <reprise/retry/driver/metrics_text.hpp>
#include <reprise/retry/retry_observer.hpp>
#include <reprise/retry/token_bucket.hpp>

namespace reprise {

/// Counts without locks; one object for any number of strategies, calls and threads.
class REPRISE_EXPORT retry_metrics final : public retry_observer {
public:
    /// The kind of a failed attempt, from its facts.
    enum class failure_kind : std::uint8_t { timeout, throttling, other };
    /// One service on a page for Prometheus. Null members are left out.
    struct service {
        std::string_view labels{};  ///< `service="prices"`
        const retry_metrics* metrics = nullptr;
        /// A budget of any kind, or a bucket that strategies share: its level and its capacity, as
        /// gauges.
        std::variant<std::monostate, const token_bucket*, const driver::retry_budget*> budget{};
        const circuit_breaker* breaker = nullptr;  ///< Its state, as a gauge for each state.
        /// The clock of the calls, for budgets that age; null: the real one.
        retry_clock* clock = nullptr;
    };

    static constexpr std::size_t failure_kind_count = 3;  ///< Enumerators of `failure_kind`.
    /// More than there are refusal reasons.
    static constexpr std::size_t refusal_count = 32;

    void on_decision(const decision_event& event) noexcept override;
    void on_completion(const call_summary& summary) noexcept override;

    /// All calls that have ended.
    [[nodiscard]] std::uint64_t calls() const noexcept { return successes() + failures(); }
    [[nodiscard]] std::uint64_t successes() const noexcept { return load(successes_); }
    [[nodiscard]] std::uint64_t failures() const noexcept { return load(failures_); }
    /// All attempts of all calls that have ended.
    [[nodiscard]] std::uint64_t attempts() const noexcept { return load(attempts_); }
    /// Retries that were admitted after failures of one kind, also those whose wait was canceled.
    [[nodiscard]] std::uint64_t retries(failure_kind kind) const noexcept {
        return load(retries_[static_cast<std::size_t>(kind)]);
    }
    /// Hedges that were admitted.
    [[nodiscard]] std::uint64_t hedges() const noexcept { return load(hedges_); }
    /// Hedges that were refused.
    [[nodiscard]] std::uint64_t refused_hedges() const noexcept { return load(refused_hedges_); }
    /// Retries that were refused for one reason.
    [[nodiscard]] std::uint64_t refusals(refusal_reason reason) const noexcept;
    /// Durations of calls, with all their attempts and waits.
    [[nodiscard]] const driver::latency_histogram& call_times() const noexcept {
        return call_times_;
    }

    /// The text format 0.0.4 of Prometheus, as a page of its own. Counters that are still zero are
    /// left out, except the totals.
    [[nodiscard]] std::string to_prometheus(const driver::prometheus_options& options = {}) const;
    /// Several services on one page: each family of metrics is described once, as the format
    /// demands.
    [[nodiscard]] static std::string to_prometheus(
        std::span<const service> services, std::string_view prefix = "reprise");

private:
    using counter = std::atomic<std::uint64_t>;
    [[nodiscard]] static std::uint64_t load(const counter& value) noexcept {
        return value.load(std::memory_order_relaxed);
    }

    counter successes_{0};
    counter failures_{0};
    counter attempts_{0};
    counter hedges_{0};
    counter refused_hedges_{0};
    std::array<counter, failure_kind_count> retries_{};
    std::array<counter, refusal_count> refusals_{};
    driver::latency_histogram call_times_;
};

/// "throttling"
[[nodiscard]] REPRISE_EXPORT std::string_view to_string(retry_metrics::failure_kind kind) noexcept;

}  // namespace reprise
