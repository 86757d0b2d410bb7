#pragma once

/// Runs a storm model: the retry library itself in virtual time.
///
///     clients --request--> retry_session --attempt--> network --> queue --> server
///        ^                  |  ^                                              |
///        +--- success ------+  +---- timeout, error, late answer <------------+
///
/// A strategy of `libs/retry` makes every decision about a retry through a `retry_session`; the lab
/// only moves time, work and answers. Nothing reads a clock or sleeps.

#include <array>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include <reprise/lab/recovery.hpp>
#include <reprise/lab/slot.hpp>
#include <reprise/lab/storm_options.hpp>

namespace reprise::lab {

/// How clients treat a failed attempt.
enum class policy : std::uint8_t {
    no_retries,  ///< `reprise::no_retry`.
    naive,       ///< A fixed number of attempts, no pause between them, no budget.
    standard,    ///< `reprise::standard_strategy`: backoff, jitter, token bucket.
};

inline constexpr std::array policies{policy::no_retries, policy::naive, policy::standard};

/// Returns "no retries", "naive retries" or "standard strategy".
[[nodiscard]] std::string_view to_string(policy which) noexcept;

/// Totals of the whole run. They balance for every policy:
///
///     requests         = succeeded + failed + unfinished
///     attempts_sent    = attempts_arrived + in transit at the end
///     attempts_arrived = work_done + errors + waiting in the last slot
///     work_done        = succeeded + wasted + faults + answers in transit at the end
struct storm_totals {
    std::uint64_t requests = 0;
    std::uint64_t succeeded = 0;
    std::uint64_t failed = 0;
    std::uint64_t unfinished = 0;  ///< Still running or waiting at the end of the run.
    std::uint64_t attempts_sent = 0;
    std::uint64_t attempts_arrived = 0;
    std::uint64_t on_the_way = 0;  ///< Attempts between client and server at the end.
    std::uint64_t work_done = 0;   ///< Attempts that the server processed.
    std::uint64_t wasted = 0;      ///< Of these: the client was no longer waiting.
    /// Of these: ended in an error and were retried or given up.
    std::uint64_t faults = 0;
    std::uint64_t answers_on_the_way = 0;  ///< Work done whose answer has not arrived at the end.
    std::uint64_t errors = 0;              ///< Attempts rejected without work.
    std::uint32_t waiting_max = 0;         ///< Longest queue, including the attempt in service.
    duration latency_sum{};                ///< Of succeeded requests, from start to answer.
    /// 99 % of the requests that succeeded before the outage took no longer. Exact to an eighth.
    duration latency_p99{};
    std::uint64_t hedges = 0;  ///< Attempts sent beside a slow one.
};

struct storm_result {
    lab::policy policy = policy::no_retries;
    storm_totals totals;
    std::vector<slot> slots;           ///< Of `slot_length`, from the start of the run.
    double worst_amplification = 1.0;  ///< Attempts reaching the server per request, worst second.
    bool is_complete = true;           ///< False if it was stopped; `slots` ends there.
    lab::recovery recovery;

    /// Attempts sent per request over the run.
    [[nodiscard]] double amplification() const noexcept;
    /// The share of ended requests that succeeded.
    [[nodiscard]] double success_share() const noexcept;
    /// The share of the work whose client was no longer waiting.
    [[nodiscard]] double wasted_share() const noexcept;
};

/// Called after each slot. If it returns true, the run ends there. If empty, the run is never
/// stopped.
using stop_question = std::function<bool()>;

/// Throws `invalid_settings` for options that `check` rejects.
[[nodiscard]] storm_result run_storm(
    const storm_options& options, policy which, const stop_question& should_stop = {});

/// The results of the three policies for the same arrivals.
struct comparison {
    storm_options options;
    std::array<storm_result, policies.size()> results;  ///< In the order of `policies`.
};

/// Throws `invalid_settings` for options that `check` rejects.
[[nodiscard]] comparison compare_policies(const storm_options& options);

/// The same, but it can be stopped: returns one result for each policy that was started. The last
/// one is incomplete if `should_stop` ended it.
[[nodiscard]] std::vector<storm_result> run_policies(
    const storm_options& options, const stop_question& should_stop);

}  // namespace reprise::lab
