#include "output/sim_report.hpp"

#include <deque>
#include <string_view>

#include <fmt/format.h>

#include <reprise/engine/reason_table.hpp>
#include <reprise/json/write.hpp>

namespace reprise::app {

namespace {

/// Calls `visit(reason, stage, class, count)` for every cell that is reachable or was reached.
template <class Visit>
void visit_cells(const sim::reason_cells& cells, const Visit& visit) {
    for (std::size_t reason = 0; reason < couchbase::retry_reason_count; ++reason) {
        for (std::size_t stage = 0; stage < sim::stage_count; ++stage) {
            for (std::size_t of = 0; of < engine::operation_class_count; ++of) {
                const auto why = static_cast<couchbase::retry_reason>(reason);
                const auto where = static_cast<driver::attempt_stage>(stage);
                const auto what = static_cast<engine::operation_class>(of);
                const bool can_be = engine::cell_of(why, where, what).applicable ==
                                    engine::reason_applicability::yes;
                if (can_be || cells.counts[reason][stage][of] != 0) {
                    visit(why, where, what, cells.counts[reason][stage][of]);
                }
            }
        }
    }
}

void write_findings(json::writer& out, const std::vector<sim::finding>& findings) {
    out.key("findings").begin_array();
    for (const sim::finding& each : findings) {
        out.begin_object();
        out.member("checker", sim::to_string(each.what));
        out.member("at_ns", each.at.count());
        if (each.operation) {
            out.member("operation", *each.operation);
        }
        out.member("text", each.text);
        out.end_object();
    }
    out.end_array();
}

void write_cells(json::writer& out, const sim::reason_cells& cells) {
    out.key("cells").begin_object();
    out.member("filled", cells.filled());
    out.member("applicable", sim::reason_cells::applicable_count());
    out.key("counts").begin_array();
    visit_cells(cells, [&out](auto reason, auto stage, auto of, std::uint64_t count) {
        out.begin_object();
        out.member("reason", couchbase::info(reason).name);
        out.member("stage", to_string(stage));
        out.member("class", engine::to_string(of));
        out.member("count", count);
        out.end_object();
    });
    out.end_array();
    out.end_object();
}

void write_situations(json::writer& out, const sim::situation_counts& situations) {
    out.key("situations").begin_object();
    for (std::size_t index = 0; index < sim::situation_count; ++index) {
        out.member(sim::to_string(static_cast<sim::situation>(index)), situations.counts[index]);
    }
    out.end_object();
}

void write_failure(json::writer& out, const sim_failure& failure) {
    out.begin_object();
    out.member("seed", failure.seed);
    write_findings(out, failure.findings);
    if (failure.shrunk.run_count != 0) {
        out.key("shrunk").begin_object();
        out.member("runs", failure.shrunk.run_count);
        out.member("scenario", sim::to_string(failure.shrunk.plan));
        write_findings(out, failure.shrunk.report.findings);
        out.key("events").begin_array();
        for (const std::string& each : failure.events) {
            out.value(each);
        }
        out.end_array();
        out.end_object();
    }
    out.end_object();
}

}  // namespace

void sim_totals::add(const sim::run_report& report) noexcept {
    ++seeds;
    failed += report.is_clean() ? 0U : 1U;
    operations += report.operations;
    calls += report.calls;
    rows += report.rows;
    succeeded += report.succeeded;
    ambiguous += report.ambiguous;
    requests += report.requests;
    retries += report.retries;
    connections += report.connections;
    faults += report.faults;
    events += report.events;
    fingerprint = (fingerprint ^ report.fingerprint) * 0x9e37'79b9'7f4a'7c15ULL;
    virtual_time += report.virtual_time;
    cells.add(report.cells);
    situations.add(report.situations);
}

std::string sim_time(duration at) {
    // Truncated, not rounded, as in findings.
    return fmt::format("+{}.{:03} ms", at.count() / 1'000'000, at.count() / 1'000 % 1'000);
}

std::string sim_progress(const sim_totals& totals, double seconds) {
    return fmt::format(
        "{} seeds, {:.1f} seeds/s, {} operations, {:.0f} operations/s, cells {} of {}",
        totals.seeds, static_cast<double>(totals.seeds) / seconds, totals.operations,
        static_cast<double>(totals.operations) / seconds, totals.cells.filled(),
        sim::reason_cells::applicable_count());
}

std::string to_text(const sim_failure& failure, const std::string& replay_options) {
    std::string text = fmt::format("seed {}: broken\n", failure.seed);
    for (const sim::finding& each : failure.findings) {
        text += fmt::format("  {}\n", sim::to_string(each));
    }
    if (failure.shrunk.run_count != 0) {
        const sim::scenario& plan = failure.shrunk.plan;
        text += fmt::format(
            "\nShrunk in {} runs; operations: {}, faults: {}\n\n{}\n", failure.shrunk.run_count,
            plan.operations.size(), plan.faults.size(), sim::to_string(plan));
        for (const sim::finding& each : failure.shrunk.report.findings) {
            text += fmt::format("  {}\n", sim::to_string(each));
        }
        text += "\nEvents around the first finding:\n\n";
        for (const std::string& each : failure.events) {
            text += fmt::format("  {}\n", each);
        }
    }
    return text + fmt::format(
                      "\nReplay with every event:  reprise sim {0} --replay {1}\n"
                      "Replay the shrunk one:    reprise sim {0} --replay {1} --shrink\n",
                      replay_options, failure.seed);
}

std::string to_text(const sim_totals& totals) {
    std::string text = fmt::format(
        "{} seeds, {} operations: {} succeeded, {} ambiguous; {} requests, {} retries\n"
        "{} of them used the HTTP services, {} rows; {} connections, {} faults, {} events, {:.0f} "
        "s "
        "of virtual time\n"
        "cells of the reasons-by-stage table: {} of {}; situations: {} of {}\n",
        totals.seeds, totals.operations, totals.succeeded, totals.ambiguous, totals.requests,
        totals.retries, totals.calls, totals.rows, totals.connections, totals.faults, totals.events,
        static_cast<double>(totals.virtual_time.count()) / 1e9, totals.cells.filled(),
        sim::reason_cells::applicable_count(), totals.situations.met(), sim::situation_count);
    return text + (totals.failed == 0 ? "all promises held\n"
                                      : fmt::format("{} seeds broke a promise\n", totals.failed));
}

std::string missing_cells(const sim::reason_cells& cells) {
    std::string text;
    std::string_view last;
    visit_cells(cells, [&](auto reason, auto stage, auto of, std::uint64_t count) {
        if (count != 0) {
            return;
        }
        const std::string_view name = couchbase::info(reason).name;
        if (name != last) {
            text += fmt::format("{}{} ({}):", last.empty() ? "" : "\n", name, to_string(stage));
            last = name;
        }
        text += fmt::format(" {}", engine::to_string(of));
    });
    return text.empty() ? "every cell was reached\n" : text + "\n";
}

std::string missing_situations(const sim::situation_counts& situations) {
    std::string text;
    for (std::size_t index = 0; index < sim::situation_count; ++index) {
        if (situations.counts[index] == 0) {
            text += fmt::format("{}\n", sim::to_string(static_cast<sim::situation>(index)));
        }
    }
    return text.empty() ? "every situation was met\n" : text;
}

std::string to_json(
    const sim_totals& totals, const std::vector<sim_failure>& failures, const std::string& profile,
    bool is_interrupted) {
    std::string text;
    json::writer out(text, json::layout::indented);
    out.begin_object();
    out.member("profile", profile);
    out.member("interrupted", is_interrupted);
    out.member("seeds", totals.seeds);
    out.member("failed", totals.failed);
    out.member("operations", totals.operations);
    out.member("calls", totals.calls);
    out.member("rows", totals.rows);
    out.member("succeeded", totals.succeeded);
    out.member("ambiguous", totals.ambiguous);
    out.member("requests", totals.requests);
    out.member("retries", totals.retries);
    out.member("connections", totals.connections);
    out.member("faults", totals.faults);
    out.member("events", totals.events);
    out.member("virtual_time_ns", totals.virtual_time.count());
    out.member("fingerprint", fmt::format("{:016x}", totals.fingerprint));
    write_cells(out, totals.cells);
    write_situations(out, totals.situations);
    out.key("failures").begin_array();
    for (const sim_failure& each : failures) {
        write_failure(out, each);
    }
    out.end_array();
    out.end_object();
    return text + "\n";
}

std::string to_json(const sim::scenario& plan, const sim::run_report& report) {
    std::string text;
    json::writer out(text, json::layout::indented);
    out.begin_object();
    out.member("seed", report.seed);
    out.member("profile", plan.profile);
    out.member("scenario", sim::to_string(plan));
    out.member("fingerprint", fmt::format("{:016x}", report.fingerprint));
    out.member("operations", report.operations);
    out.member("calls", report.calls);
    out.member("rows", report.rows);
    out.member("succeeded", report.succeeded);
    out.member("ambiguous", report.ambiguous);
    out.member("requests", report.requests);
    out.member("retries", report.retries);
    out.member("connections", report.connections);
    out.member("events", report.events);
    out.member("virtual_time_ns", report.virtual_time.count());
    write_cells(out, report.cells);
    write_situations(out, report.situations);
    write_findings(out, report.findings);
    out.end_object();
    return text + "\n";
}

std::vector<std::string> events_around(
    const sim::scenario& plan, std::size_t before, std::size_t after) {
    std::deque<std::string> lines;
    std::size_t left = after;
    bool is_found = false;
    sim::run_options options;
    options.trace = [&](duration at, std::string_view line) {
        if (is_found && left == 0) {
            return;
        }
        left -= is_found ? 1U : 0U;
        is_found = is_found || line.starts_with("FINDING");
        lines.push_back(fmt::format("{:>14} {}", sim_time(at), line));
        if (!is_found && lines.size() > before) {
            lines.pop_front();
        }
    };
    (void)sim::run_scenario(plan, options);
    return {lines.begin(), lines.end()};
}

}  // namespace reprise::app
