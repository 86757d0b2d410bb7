#pragma once

/// Runs a model in virtual time: the retry library itself, moved by discrete events.
///
///     caller --call--> retry_session --attempt--> network --> queue --> worker --> calls of its
///     own
///        ^              |  ^                                              |
///        +-- success ---+  +---- timeout, error, late answer <------------+
///
/// Strategies, budgets and breakers of `libs/retry` make every decision through a `retry_session`;
/// the lab only moves time, work and answers. Nothing reads a clock or sleeps.

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include <reprise/lab/model.hpp>
#include <reprise/lab/recovery.hpp>
#include <reprise/lab/slot.hpp>
#include <reprise/retry/retry_errc.hpp>

namespace reprise::lab {

/// Totals of one service. They balance:
///
///     calls    = succeeded + failed + unfinished
///     arrived  = done + rejected + dropped + waiting in the last slot
///     sent     = arrived + on_the_way
struct service_totals {
    std::uint64_t calls = 0;  ///< Calls made to the service; each is one retry loop.
    std::uint64_t succeeded = 0;
    std::uint64_t failed = 0;
    std::uint64_t unfinished = 0;  ///< Still running or waiting at the end of the run.
    std::uint64_t sent = 0;        ///< Attempts, including hedges.
    std::uint64_t arrived = 0;
    std::uint64_t on_the_way = 0;  ///< Attempts between caller and service at the end.
    std::uint64_t done = 0;        ///< Attempts that the service has worked on.
    std::uint64_t wasted = 0;      ///< Of these: the caller was no longer waiting.
    std::uint64_t rejected = 0;    ///< Attempts answered with an error without work.
    std::uint64_t dropped = 0;     ///< Attempts discarded because their caller had given up.
    std::uint64_t hedges = 0;
    std::uint32_t waiting_max = 0;  ///< Longest queue, including requests being worked on.
    /// Why calls failed, indexed by `refusal_reason`.
    std::array<std::uint64_t, 32> refusals{};

    [[nodiscard]] std::uint64_t refused(refusal_reason why) const noexcept {
        return refusals[static_cast<std::size_t>(why)];
    }
};

/// Latencies of the clients' requests. A failed request never has an answer, so it counts as slower
/// than every successful one.
struct latency_summary {
    /// The mean of successful requests only.
    duration mean{};
    /// Percentiles of all requests; absent: fewer than that succeeded.
    std::optional<duration> p50{};
    std::optional<duration> p90{};
    std::optional<duration> p99{};
    std::optional<duration> p999{};
};

/// One service over time.
struct service_result {
    std::string name;
    service_totals totals;
    std::vector<slot> slots;  ///< Of `slot_length`, from the start of the run.
};

/// Latencies of one second.
struct latency_second {
    std::optional<duration> p50{};  ///< Absent: fewer than that succeeded, or no requests ended.
    std::optional<duration> p99{};
};

struct run_result {
    std::vector<service_result> services;  ///< In the order of the model.
    latency_summary latency;               ///< Of the whole run.
    latency_summary latency_before;        ///< Of requests that ended before the first trouble.
    std::vector<latency_second> latency_seconds;
    lab::recovery recovery;
    /// When the last request ended, for closed arrivals with `requests_each`; zero otherwise.
    duration finished_at{};
    bool is_complete = true;  ///< False if the run was stopped; the slots end there.

    /// Totals of the first service, the one that the clients call.
    [[nodiscard]] const service_totals& totals() const noexcept { return services.front().totals; }
    /// Attempts sent per call over the run, at the first service.
    [[nodiscard]] double amplification() const noexcept;
    /// Attempts that reach a service per request of the clients: layers multiply.
    [[nodiscard]] double amplification_at(std::size_t service) const noexcept;
    /// The same in the worst second.
    [[nodiscard]] double worst_amplification_at(std::size_t service) const noexcept;
    /// The share of ended requests that succeeded.
    [[nodiscard]] double success_share() const noexcept;
    /// The share of a service's work whose caller was no longer waiting.
    [[nodiscard]] double wasted_share(std::size_t service = 0) const noexcept;
    /// Attempts per successful request.
    [[nodiscard]] double attempts_per_success() const noexcept;
    /// Useful answers per second of the clients' requests, over the last `span` of the run.
    [[nodiscard]] double final_useful_rate(duration span = std::chrono::seconds{10}) const noexcept;
};

/// Called after each slot with the share of the run that is done, 0 to 1. If it returns true, the
/// run ends there.
using run_monitor = std::function<bool(double)>;

/// Throws `invalid_settings` for a model that `check` rejects. Safe to call from several threads at
/// the same time.
[[nodiscard]] run_result run(const model& asked, const run_monitor& monitor = {});

}  // namespace reprise::lab
