#include <reprise/lab/storm.hpp>

#include <algorithm>

#include <reprise/retry/standard_strategy.hpp>

#include "storm_simulation.hpp"

namespace reprise::lab {

namespace {

[[nodiscard]] double share(std::uint64_t part, std::uint64_t whole, double if_none) noexcept {
    return whole == 0 ? if_none : static_cast<double>(part) / static_cast<double>(whole);
}

/// What people write first: retry immediately, a fixed number of times.
using naive_strategy = composed_strategy<stated_safety, exponential_backoff, no_budget>;

[[nodiscard]] backoff_options no_pause() {
    backoff_options options;
    options.base = options.cap = duration::zero();
    options.jitter = jitter::none;
    return options;
}

[[nodiscard]] storm_result simulate(
    storm_options options, policy which, const stop_question& should_stop) {
    if (which != policy::standard) {
        options.hedge_delay.reset();
    }
    switch (which) {
        case policy::naive:
            return storm_simulation<naive_strategy>(
                       options,
                       [&](auto& clients) {
                           clients.emplace_back(
                               attempt_limits{options.attempts_max}, stated_safety{},
                               exponential_backoff{no_pause()}, no_budget{});
                       })
                .run(should_stop);
        case policy::standard:
            return storm_simulation<standard_strategy>(
                       options,
                       [&](auto& clients) {
                           standard_options standard = options.standard;
                           standard.attempts_max = options.attempts_max;
                           clients.emplace_back(standard);
                       })
                .run(should_stop);
        case policy::no_retries:
            break;
    }
    return storm_simulation<no_retry>(options, [](auto& clients) { clients.emplace_back(); })
        .run(should_stop);
}

[[nodiscard]] double find_worst_amplification(std::span<const slot> slots) {
    double worst = 0.0;
    for (const slot& second : join_slots(slots, std::chrono::seconds{1} / slot_length)) {
        worst = std::max(worst, share(second.attempts, second.offered, 0.0));
    }
    return worst;
}

}  // namespace

std::string_view to_string(policy which) noexcept {
    switch (which) {
        case policy::no_retries:
            return "no retries";
        case policy::naive:
            return "naive retries";
        case policy::standard:
            return "standard strategy";
    }
    return "unknown policy";
}

double storm_result::amplification() const noexcept {
    return share(totals.attempts_sent, totals.requests, 1.0);
}

double storm_result::success_share() const noexcept {
    return share(totals.succeeded, totals.succeeded + totals.failed, 1.0);
}

double storm_result::wasted_share() const noexcept {
    return share(totals.wasted, totals.work_done, 0.0);
}

std::vector<slot> join_slots(std::span<const slot> slots, std::size_t factor) {
    std::vector<slot> joined;
    joined.reserve(slots.size() / factor);
    for (std::size_t first = 0; first + factor <= slots.size(); first += factor) {
        slot sum = slots[first + factor - 1];
        for (const slot& one : slots.subspan(first, factor - 1)) {
            sum.offered += one.offered;
            sum.attempts += one.attempts;
            sum.useful += one.useful;
            sum.wasted += one.wasted;
            sum.errors += one.errors;
            sum.failed += one.failed;
        }
        joined.push_back(sum);
    }
    return joined;
}

storm_result run_storm(
    const storm_options& options, policy which, const stop_question& should_stop) {
    storm_result result = simulate(checked(options), which, should_stop);
    result.policy = which;
    result.worst_amplification = find_worst_amplification(result.slots);
    if (result.is_complete) {
        result.recovery =
            find_recovery(result.slots, {options.outage_start, options.outage_length});
    }
    return result;
}

std::vector<storm_result> run_policies(
    const storm_options& options, const stop_question& should_stop) {
    std::vector<storm_result> results;
    results.reserve(policies.size());
    for (const policy which : policies) {
        results.push_back(run_storm(options, which, should_stop));
        if (!results.back().is_complete) {
            break;
        }
    }
    return results;
}

comparison compare_policies(const storm_options& options) {
    comparison compared{options, {}};
    std::ranges::move(run_policies(options, {}), compared.results.begin());
    return compared;
}

}  // namespace reprise::lab
