#include <reprise/lab/report.hpp>

#include <algorithm>

#include "number_text.hpp"
#include "summary.hpp"

namespace reprise::lab {

namespace {

/// How long the server needs for what is waiting.
[[nodiscard]] duration queue_time(const storm_options& options, std::uint32_t waiting) {
    return duration{static_cast<std::int64_t>(
        static_cast<double>(waiting) / options.capacity_per_second * 1e9)};
}

[[nodiscard]] std::string recovery_phrase(const storm_options& options, const recovery& found) {
    switch (found.outcome) {
        case recovery_outcome::recovered:
            return found.after < slot_length
                       ? "useful work recovers immediately when the outage ends"
                       : "useful work recovers " + decimal(to_seconds(found.after), 1) +
                             " s after the outage ends";
        case recovery_outcome::never:
            return "useful work does not recover in the " +
                   seconds_text(options.length - options.outage_start - options.outage_length) +
                   " observed after the outage";
        case recovery_outcome::not_healthy_before:
            return "the system was not healthy even before the outage";
        case recovery_outcome::no_outage:
            break;
    }
    return "there is nothing to recover from";
}

[[nodiscard]] std::string describe_setting(const storm_options& options) {
    std::string text =
        grouped(options.clients) + (options.clients == 1 ? " client sends " : " clients send ") +
        number_text(options.requests_per_second) + " requests/s to a server that can process " +
        rate_text(options.capacity_per_second);
    if (options.outage_length <= duration::zero()) {
        return text + "; there is no outage. ";
    }
    text += options.outage == outage_kind::stalled ? "; it stalls from "
                                                   : "; it refuses everything from ";
    return text + seconds_text(options.outage_start) + " to " +
           seconds_text(options.outage_start + options.outage_length) + ". ";
}

/// Why a storm continues after its cause is gone.
[[nodiscard]] std::string describe_why_stuck(
    const storm_options& options, const storm_result& result) {
    const slot last = final_seconds(result);
    const duration queued = queue_time(options, last.waiting);
    if (queued <= options.attempt_timeout) {
        return {};
    }
    const double work = static_cast<double>(last.useful) + last.wasted;
    return ": at the end the queue still has " + decimal(to_seconds(queued), 1) +
           " s of work while clients wait " + seconds_text(options.attempt_timeout) + ", so " +
           percent(work > 0.0 ? last.wasted / work : 1.0) +
           " of the work is for clients that have given up and retried";
}

[[nodiscard]] std::string describe_policy(
    const storm_options& options, const storm_result& result) {
    std::string text = "up to " + decimal(result.worst_amplification, 1) +
                       " attempts per request reach the server in one second";
    if (result.recovery.outcome != recovery_outcome::no_outage) {
        text += ", and " + recovery_phrase(options, result.recovery);
    }
    if (result.recovery.outcome == recovery_outcome::never) {
        text += describe_why_stuck(options, result);
    }
    return text + ". ";
}

/// What the buckets did, and what to change if they were too large to help.
[[nodiscard]] std::string describe_buckets(
    const storm_options& options, const storm_result& result) {
    constexpr double as_good_as_empty = 0.05;
    const double lowest = std::ranges::min(result.slots, {}, &slot::bucket_share).bucket_share;
    const bool stuck = result.recovery.outcome == recovery_outcome::never;
    std::string text = "Its buckets run down to " + percent(lowest) + " of their units";
    if (options.attempts_max > 1 &&
        (stuck || result.worst_amplification > 0.9 * options.attempts_max)) {
        const double retries =
            options.standard.bucket.capacity / std::max(options.standard.prices.retry, 1e-9);
        return text + ": each pays for " + decimal(retries, 0) +
               " retries, which is a lot for a client that sends " +
               number_text(options.requests_per_second / options.clients) +
               " requests/s; try smaller buckets, or one shared by several clients. ";
    }
    return text + (lowest < as_good_as_empty ? ", which ends the extra load. " : ". ");
}

/// What hedging did for the slowest answers, and what it cost.
[[nodiscard]] std::string describe_hedges(
    const storm_options& options, const storm_result& none, const storm_result& standard) {
    if (!options.hedge_delay) {
        return {};
    }
    const auto slowest = [](const storm_result& result) {
        return decimal(to_seconds(result.totals.latency_p99) * 1000.0, 0) + " ms";
    };
    const double share = static_cast<double>(standard.totals.hedges) /
                         static_cast<double>(std::max<std::uint64_t>(standard.totals.requests, 1));
    return "It hedges after " + decimal(to_seconds(*options.hedge_delay) * 1000.0, 0) +
           " ms: before the outage 99 % of its answers take " + slowest(standard) +
           " or less, instead of " + slowest(none) + " without, for " + percent(share) +
           " more attempts. ";
}

}  // namespace

std::string to_table(const comparison& compared) {
    const std::vector<summary_row> rows = summarise(compared);
    std::size_t label_width = 0;
    std::array<std::size_t, policies.size()> widths{};
    for (std::size_t i = 0; i < policies.size(); ++i) {
        widths[i] = to_string(policies[i]).size();
    }
    for (const summary_row& row : rows) {
        label_width = std::max(label_width, row.label.size());
        for (std::size_t i = 0; i < policies.size(); ++i) {
            widths[i] = std::max(widths[i], row.cells[i].size());
        }
    }
    std::string text(label_width, ' ');
    const auto add_cell = [&](std::size_t column, std::string_view cell) {
        text.append(3 + widths[column] - cell.size(), ' ').append(cell);
    };
    for (std::size_t i = 0; i < policies.size(); ++i) {
        add_cell(i, to_string(policies[i]));
    }
    text += '\n';
    for (const summary_row& row : rows) {
        text.append(row.label).append(label_width - row.label.size(), ' ');
        for (std::size_t i = 0; i < policies.size(); ++i) {
            add_cell(i, row.cells[i]);
        }
        text += '\n';
    }
    return text;
}

std::string to_reading(const comparison& compared) {
    const storm_options& options = compared.options;
    const auto& [none, naive, standard] = compared.results;
    std::string text = describe_setting(options);
    if (options.outage_length > duration::zero()) {
        text += "Without retries " + recovery_phrase(options, none.recovery) + ". ";
    }
    text += "With naive retries (" + std::to_string(options.attempts_max) +
            " attempts, no pause, no budget) " + describe_policy(options, naive);
    text += "With the standard strategy " + describe_policy(options, standard);
    text += describe_buckets(options, standard);
    text += describe_hedges(options, none, standard);
    text += "Over the whole run " + percent(none.success_share()) +
            " of requests succeed without retries, " + percent(naive.success_share()) +
            " with naive ones, " + percent(standard.success_share()) +
            " with the standard strategy. ";
    const double before = success_before(options, standard);
    const double plain = success_before(options, none);
    if (before > plain) {
        text += "Before the outage retries raise the success rate from " + percent(plain) + " to " +
                percent(before) + ".";
    } else {
        text.pop_back();
    }
    return text;
}

}  // namespace reprise::lab
