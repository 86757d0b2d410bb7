#include "summary.hpp"

#include <algorithm>

#include "number_text.hpp"

namespace reprise::lab {

namespace {

using namespace std::chrono_literals;

class row_maker {
public:
    explicit row_maker(const comparison& compared) : compared_(compared) {}

    /// Adds a row by computing the same figure for each strategy.
    template <class Question>
    void add(std::string label, Question question) {
        summary_row row{std::move(label), {}};
        for (const strategy_result& each : compared_.results) {
            row.cells.push_back(question(each.result));
        }
        rows_.push_back(std::move(row));
    }
    /// The same, unless the figure is 0 for all.
    template <class Question>
    void add_count(std::string label, Question question) {
        const bool has_any = std::ranges::any_of(
            compared_.results, [&](const auto& each) { return question(each.result) > 0; });
        if (has_any) {
            add(std::move(label),
                [&](const run_result& result) { return grouped(question(result)); });
        }
    }
    [[nodiscard]] std::vector<summary_row> take() { return std::move(rows_); }

private:
    const comparison& compared_;
    std::vector<summary_row> rows_;
};

void add_latencies(row_maker& rows, const model& asked) {
    if (!asked.troubles.empty()) {
        rows.add("99 % answered within, before the trouble", [](const run_result& r) {
            return latency_text(r.latency_before.p99);
        });
    }
    rows.add(
        "50 % answered within", [](const run_result& r) { return latency_text(r.latency.p50); });
    rows.add(
        "99 % answered within", [](const run_result& r) { return latency_text(r.latency.p99); });
}

void add_loads(row_maker& rows, const model& asked) {
    rows.add("attempts per request, whole run", [](const run_result& r) {
        return decimal(r.amplification(), 2);
    });
    if (asked.services.size() == 1) {
        rows.add("attempts per request, worst second", [](const run_result& r) {
            return decimal(r.worst_amplification_at(0), 2);
        });
    }
    for (std::size_t i = 0; asked.services.size() > 1 && i < asked.services.size(); ++i) {
        rows.add("worst second at " + asked.services[i].name, [i](const run_result& r) {
            return decimal(r.worst_amplification_at(i), 2);
        });
    }
    rows.add("attempts per success", [](const run_result& r) {
        return r.totals().succeeded == 0 ? "-" : decimal(r.attempts_per_success(), 2);
    });
    for (std::size_t i = 0; i < asked.services.size(); ++i) {
        const std::string where =
            asked.services.size() > 1 ? " of " + asked.services[i].name : std::string();
        if (asked.services[i].capacity_per_second) {
            rows.add("wasted share of the work" + where, [i](const run_result& r) {
                return percent(r.wasted_share(i));
            });
            rows.add("longest queue" + where + ", time to drain it", [&, i](const run_result& r) {
                return latency_text(
                    drain_time(asked.services[i], r.services[i].totals.waiting_max));
            });
        }
    }
}

void add_counts(row_maker& rows) {
    rows.add("requests", [](const run_result& r) { return grouped(r.totals().calls); });
    rows.add("attempts", [](const run_result& r) { return grouped(r.totals().sent); });
    rows.add_count("hedges", [](const run_result& r) { return r.totals().hedges; });
    for (const refusal_reason why :
         {refusal_reason::attempts_exhausted, refusal_reason::budget_exhausted,
          refusal_reason::deadline, refusal_reason::circuit_open,
          refusal_reason::outer_allowance}) {
        rows.add_count("failed: " + std::string(to_string(why)), [why](const run_result& r) {
            return r.totals().refused(why);
        });
    }
}

}  // namespace

duration observed_after(const model& asked) {
    const trouble_window window = window_of(asked);
    return asked.length - window.start - window.length;
}

duration drain_time(const service_options& service, double waiting) {
    const double capacity = service.capacity_per_second.value_or(0.0);
    return capacity > 0.0 ? duration{static_cast<std::int64_t>(waiting / capacity * 1e9)}
                          : duration::zero();
}

std::string latency_text(const std::optional<duration>& latency) {
    if (!latency) {
        return "-";
    }
    const double seconds = to_seconds(*latency);
    return seconds < 1.0 ? decimal(seconds * 1000.0, seconds < 0.01 ? 1 : 0) + " ms"
                         : decimal(seconds, 2) + " s";
}

duration series_step(const model& asked) {
    return asked.length <= 20s ? slot_length : duration{1s};
}

std::string recovery_text(const recovery& found) {
    switch (found.outcome) {
        case recovery_outcome::recovered:
            return found.after < slot_length ? "immediate"
                                             : decimal(to_seconds(found.after), 1) + " s";
        case recovery_outcome::never:
            return "never";
        case recovery_outcome::not_healthy_before:
            return "unhealthy before";
        case recovery_outcome::no_outage:
            break;
    }
    return "-";
}

std::vector<summary_row> summarise(const comparison& compared) {
    const model& asked = compared.scenario.model;
    row_maker rows(compared);
    if (!asked.troubles.empty()) {
        rows.add(
            "recovery, " + seconds_text(observed_after(asked)) + " observed",
            [&](const run_result& r) {
                return r.is_complete ? recovery_text(r.recovery) : "stopped";
            });
    }
    if (asked.clients.requests_each) {
        rows.add("all requests ended after", [](const run_result& r) {
            return r.finished_at > duration::zero() ? latency_text(r.finished_at) : "-";
        });
    } else {
        rows.add("useful answers, last 10 s", [](const run_result& r) {
            return decimal(r.final_useful_rate(), 0) + "/s";
        });
    }
    rows.add(
        "requests that succeed", [](const run_result& r) { return percent(r.success_share()); });
    add_latencies(rows, asked);
    add_loads(rows, asked);
    add_counts(rows);
    return rows.take();
}

}  // namespace reprise::lab
