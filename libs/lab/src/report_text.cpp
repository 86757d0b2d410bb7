#include <algorithm>

#include <reprise/lab/report.hpp>

#include "number_text.hpp"
#include "summary.hpp"

namespace reprise::lab {

namespace {

[[nodiscard]] std::string quoted(const strategy_result& each) {
    return "'" + each.strategy.name + "'";
}

/// "a", "a and b", "a, b and c"
[[nodiscard]] std::string listed(const std::vector<std::string>& parts) {
    std::string text;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        text += (i == 0 ? "" : i + 1 == parts.size() ? " and " : ", ") + parts[i];
    }
    return text;
}

[[nodiscard]] std::string describe_recoveries(const comparison& compared) {
    std::vector<std::string> recovered_at_once;
    std::vector<std::string> recovered;
    std::vector<std::string> stuck;
    std::vector<std::string> unhealthy;
    for (const strategy_result& each : compared.results) {
        const recovery& found = each.result.recovery;
        switch (found.outcome) {
            case recovery_outcome::recovered:
                if (found.after < slot_length) {
                    recovered_at_once.push_back(quoted(each));
                } else {
                    recovered.push_back(
                        "after " + decimal(to_seconds(found.after), 1) + " s with " + quoted(each));
                }
                break;
            case recovery_outcome::never:
                stuck.push_back(quoted(each));
                break;
            case recovery_outcome::not_healthy_before:
                unhealthy.push_back(quoted(each));
                break;
            case recovery_outcome::no_outage:
                break;
        }
    }
    std::string text;
    if (!recovered_at_once.empty()) {
        recovered.insert(recovered.begin(), "at once with " + listed(recovered_at_once));
    }
    if (!recovered.empty()) {
        text += "Useful work recovers " + listed(recovered) + ". ";
    }
    if (!stuck.empty()) {
        text += "It does not recover with " + listed(stuck) + " in the " +
                seconds_text(observed_after(compared.scenario.model)) + " observed. ";
    }
    if (!unhealthy.empty()) {
        text += "With " + listed(unhealthy) + ", fewer than 95 % of requests succeed even before. ";
    }
    return text;
}

/// Why the first strategy that does not recover stays down.
[[nodiscard]] std::string describe_why_stuck(const comparison& compared) {
    for (const strategy_result& each : compared.results) {
        if (each.result.recovery.outcome != recovery_outcome::never) {
            continue;
        }
        const model asked = with_strategy(compared.scenario, each.strategy);
        const std::vector<slot>& slots = each.result.services.front().slots;
        const duration queued = drain_time(asked.services.front(), slots.back().waiting);
        const auto timeout = asked.clients.retries.attempt_timeout;
        const double capacity = asked.services.front().capacity_per_second.value_or(0.0);
        if (!timeout || queued <= *timeout) {
            continue;
        }
        const std::size_t count = std::min<std::size_t>(slots.size(), 100);
        const slot last = join_slots(std::span(slots).last(count), count).front();
        const double seconds = to_seconds(slot_length) * static_cast<double>(count);
        return "With " + quoted(each) + ", " + decimal(last.attempts / seconds, 0) +
               " attempts/s arrive in the last 10 s at a service of " + rate_text(capacity) +
               "; its queue takes " + latency_text(queued) + " while clients wait " +
               latency_text(timeout) + ", so it works for clients that have given up. ";
    }
    return {};
}

[[nodiscard]] std::string describe_worst_load(const comparison& compared) {
    const std::size_t last = compared.scenario.model.services.size() - 1;
    const auto worst = std::ranges::max_element(
        compared.results, {},
        [last](const strategy_result& each) { return each.result.worst_amplification_at(last); });
    const double factor = worst->result.worst_amplification_at(last);
    if (factor < 1.5) {
        return {};
    }
    return "The most load comes from " + quoted(*worst) + ": up to " + decimal(factor, 1) +
           " attempts per request reach " + compared.scenario.model.services[last].name +
           " in one second. ";
}

[[nodiscard]] std::string describe_latencies(const comparison& compared) {
    const bool has_trouble = !compared.scenario.model.troubles.empty();
    std::vector<std::string> parts;
    bool has_hedges = false;
    for (const strategy_result& each : compared.results) {
        has_hedges |= each.strategy.retries.hedge.has_value();
        const latency_summary& of = has_trouble ? each.result.latency_before : each.result.latency;
        const double hedged =
            static_cast<double>(each.result.totals().hedges) /
            static_cast<double>(std::max<std::uint64_t>(each.result.totals().calls, 1));
        parts.push_back(
            latency_text(of.p99) + " with " + quoted(each) +
            (each.strategy.retries.hedge ? " (" + percent(hedged) + " of requests hedged)" : ""));
    }
    return has_hedges ? "99 % of requests are answered within " + listed(parts) + ". "
                      : std::string();
}

[[nodiscard]] std::string describe_ends(const comparison& compared) {
    if (!compared.scenario.model.clients.requests_each) {
        return {};
    }
    std::vector<std::string> parts;
    for (const strategy_result& each : compared.results) {
        const bool has_ended = each.result.finished_at > duration::zero();
        parts.push_back(
            (has_ended ? latency_text(each.result.finished_at) : "more than the run") + " and " +
            grouped(each.result.totals().sent) + " attempts with " + quoted(each));
    }
    return "The requests take " + listed(parts) + ". ";
}

}  // namespace

std::string to_table(const comparison& compared) {
    const std::vector<summary_row> rows = summarise(compared);
    std::size_t label_width = 0;
    std::vector<std::size_t> widths;
    widths.reserve(compared.results.size());
    for (const strategy_result& each : compared.results) {
        widths.push_back(each.strategy.name.size());
    }
    for (const summary_row& row : rows) {
        label_width = std::max(label_width, row.label.size());
        for (std::size_t i = 0; i < widths.size(); ++i) {
            widths[i] = std::max(widths[i], row.cells[i].size());
        }
    }
    std::string text(label_width, ' ');
    const auto add_cell = [&](std::size_t column, std::string_view cell) {
        text.append(3 + widths[column] - cell.size(), ' ').append(cell);
    };
    for (std::size_t i = 0; i < widths.size(); ++i) {
        add_cell(i, compared.results[i].strategy.name);
    }
    text += '\n';
    for (const summary_row& row : rows) {
        text.append(row.label).append(label_width - row.label.size(), ' ');
        for (std::size_t i = 0; i < widths.size(); ++i) {
            add_cell(i, row.cells[i]);
        }
        text += '\n';
    }
    return text;
}

std::string to_reading(const comparison& compared) {
    std::string text = describe_recoveries(compared) + describe_why_stuck(compared) +
                       describe_worst_load(compared) + describe_latencies(compared) +
                       describe_ends(compared);
    if (!text.empty()) {
        text.pop_back();
    }
    return text;
}

}  // namespace reprise::lab
