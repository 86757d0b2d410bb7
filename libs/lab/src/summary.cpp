#include "summary.hpp"

#include <algorithm>

#include "number_text.hpp"

namespace reprise::lab {

namespace {

constexpr std::size_t final_slots = std::chrono::seconds{10} / slot_length;

/// Makes a row by computing the same figure for each result.
template <class Question>
[[nodiscard]] summary_row ask_all(
    const comparison& compared, std::string label, Question question) {
    summary_row row{std::move(label), {}};
    std::ranges::transform(compared.results, row.cells.begin(), question);
    return row;
}

[[nodiscard]] duration mean_latency(const storm_totals& totals) {
    return totals.succeeded == 0 ? duration::zero()
                                 : totals.latency_sum / static_cast<std::int64_t>(totals.succeeded);
}

}  // namespace

double success_before(const storm_options& options, const storm_result& result) {
    const auto until = options.outage_length > duration::zero()
                           ? static_cast<std::size_t>(options.outage_start / slot_length)
                           : result.slots.size();
    double offered = 0.0;
    double failed = 0.0;
    for (const slot& one : std::span(result.slots).first(std::min(until, result.slots.size()))) {
        offered += one.offered;
        failed += one.failed;
    }
    return offered > 0.0 ? 1.0 - failed / offered : 1.0;
}

slot final_seconds(const storm_result& result) {
    const std::size_t count = std::min(final_slots, result.slots.size());
    const std::vector<slot> joined =
        join_slots(std::span(result.slots).last(count), std::max<std::size_t>(count, 1));
    return joined.empty() ? slot{} : joined.front();
}

std::string recovery_text(const storm_options& options, const recovery& found) {
    switch (found.outcome) {
        case recovery_outcome::recovered:
            return found.after < slot_length ? "immediate"
                                             : decimal(to_seconds(found.after), 1) + " s";
        case recovery_outcome::never:
            return "never (" +
                   seconds_text(options.length - options.outage_start - options.outage_length) +
                   " observed)";
        case recovery_outcome::not_healthy_before:
            return "unhealthy before";
        case recovery_outcome::no_outage:
            break;
    }
    return "-";
}

std::vector<summary_row> summarise(const comparison& compared) {
    const storm_options& options = compared.options;
    const auto row = [&](const char* label, auto question) {
        return ask_all(compared, label, question);
    };
    std::vector<summary_row> rows{
        row("recovery after the outage",
            [&](const storm_result& r) { return recovery_text(options, r.recovery); }),
        row("useful answers, last 10 s",
            [&](const storm_result& r) {
                const std::size_t slots = std::min(final_slots, r.slots.size());
                const double seconds =
                    to_seconds(slot_length) * static_cast<double>(std::max<std::size_t>(slots, 1));
                return decimal(final_seconds(r).useful / seconds, 0) + "/s";
            }),
        row("requests that succeed, whole run",
            [](const storm_result& r) { return percent(r.success_share()); }),
        row("requests that succeed, before the outage",
            [&](const storm_result& r) { return percent(success_before(options, r)); }),
        row("attempts per request, whole run",
            [](const storm_result& r) { return decimal(r.amplification(), 2); }),
        row("attempts per request, worst second",
            [](const storm_result& r) { return decimal(r.worst_amplification, 2); }),
        row("wasted share of the server's work",
            [](const storm_result& r) { return percent(r.wasted_share()); }),
        row("longest queue, in time to drain it",
            [&](const storm_result& r) {
                return decimal(r.totals.waiting_max / options.capacity_per_second, 2) + " s";
            }),
        row("mean time to a useful answer",
            [](const storm_result& r) {
                return decimal(to_seconds(mean_latency(r.totals)) * 1000.0, 1) + " ms";
            }),
        row("requests", [](const storm_result& r) { return grouped(r.totals.requests); }),
        row("attempts", [](const storm_result& r) { return grouped(r.totals.attempts_sent); }),
    };
    if (options.hedge_delay) {
        rows.push_back(row("99 % of answers before the outage within", [](const storm_result& r) {
            return decimal(to_seconds(r.totals.latency_p99) * 1000.0, 0) + " ms";
        }));
        rows.push_back(
            row("hedges", [](const storm_result& r) { return grouped(r.totals.hedges); }));
    }
    return rows;
}

}  // namespace reprise::lab
