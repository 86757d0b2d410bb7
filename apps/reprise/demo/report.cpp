#include "report.hpp"

#include <fmt/format.h>

#include <reprise/json/write.hpp>

namespace reprise::demo {

namespace {

constexpr const char* http_row_name = "  statements and http";

[[nodiscard]] std::string row_of(const std::string& name, const figures& of) {
    return fmt::format(
        "{:<22}{:>11}{:>9}{:>10}{:>10}{:>10}{:>8}{:>11}\n", name, of.operations, of.retry_total(),
        to_text(of.percentile(0.5)), to_text(of.percentile(0.99)), to_text(of.slowest), of.errors,
        of.ambiguous);
}

[[nodiscard]] std::string errors_of(const figures& of) {
    std::string text;
    for (const auto& [name, count] : of.errors_by_name) {
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, count);
    }
    return text;
}

// A row of the table with its retry reasons and reported errors below.
[[nodiscard]] std::string rows_of(const std::string& name, const figures& of) {
    std::string text = row_of(name, of);
    if (of.retry_total() != 0) {
        text += fmt::format("    retried because  {}\n", to_text(of.retries));
    }
    if (of.errors != 0) {
        text += fmt::format("    errors reported  {}\n", errors_of(of));
    }
    return text;
}

[[nodiscard]] double to_ms(duration time) {
    return std::chrono::duration<double, std::milli>(time).count();
}

void write_figures(json::writer& out, const figures& of) {
    out.member("operations", of.operations);
    out.member("errors", of.errors);
    out.member("ambiguous", of.ambiguous);
    out.member("p50_ms", to_ms(of.percentile(0.5)));
    out.member("p99_ms", to_ms(of.percentile(0.99)));
    out.member("slowest_ms", to_ms(of.slowest));
    out.key("retries");
    out.begin_object();
    for (const auto& facts : couchbase::all_retry_reasons()) {
        if (const auto count = of.retries[static_cast<std::size_t>(facts.reason)]) {
            out.member(facts.name, count);
        }
    }
    out.end_object();
    out.key("errors_by_name");
    out.begin_object();
    for (const auto& [name, count] : of.errors_by_name) {
        out.member(name, count);
    }
    out.end_object();
}

void write_audit(json::writer& out, const audit_result& audit) {
    out.key("audit");
    out.begin_object();
    out.member("clean", audit.is_clean());
    out.member("lost", audit.lost());
    out.member("duplicated", audit.duplicated());
    out.member("against_the_answer", audit.writes.phantom);
    out.member("writes", audit.writes.writes);
    out.member("writes_applied", audit.writes.applied);
    out.member("writes_not_applied", audit.writes.not_applied);
    out.member("writes_unknown", audit.writes.unknown);
    out.member("writes_unknown_applied", audit.writes.unknown_applied);
    out.member("documents", audit.documents);
    out.member("documents_wrong", audit.documents_wrong);
    out.member("wrong_reads", audit.wrong_reads);
    out.member("increments_reported", audit.increments_reported);
    out.member("increments_unknown", audit.increments_unknown);
    out.member("increments_found", audit.increments_found);
    out.member("statements", audit.statements.writes);
    out.member("statements_applied", audit.statements.applied);
    out.member("statements_not_applied", audit.statements.not_applied);
    out.member("statements_unknown", audit.statements.unknown);
    out.member("statements_unknown_applied", audit.statements.unknown_applied);
    out.member("statements_twice", audit.statements.duplicated);
    out.member("statements_lost", audit.statements_lost());
    out.member("statements_against_the_answer", audit.statements.phantom);
    out.member("wrong_selects", audit.wrong_selects);
    out.key("findings");
    out.begin_array();
    for (const std::string& finding : audit.findings) {
        out.value(finding);
    }
    out.end_array();
    out.end_object();
}

}  // namespace

std::string to_text(const run_result& result) {
    std::string text = fmt::format(
        "{:<22}{:>11}{:>9}{:>10}{:>10}{:>10}{:>8}{:>11}\n", "phase", "operations", "retries", "p50",
        "p99", "slowest", "errors", "ambiguous");
    traffic_figures all;
    for (const phase_result& phase : result.phases) {
        text += rows_of(phase.name, phase.measured.key_value);
        text += rows_of(http_row_name, phase.measured.http);
        all.add(phase.measured);
    }
    text += row_of("all", all.key_value) + row_of(http_row_name, all.http);
    if (result.memory) {
        text += fmt::format(
            "\nMemory: {:.1f} MiB at the start, {:.1f} MiB at the end, peak {:.1f} MiB: "
            "growth {:+.1f} MiB (limit {:.0f})\n",
            result.memory->begin_mib, result.memory->end_mib, result.memory->peak_mib,
            result.memory->growth_mib(), result.memory->growth_max_mib);
    }
    if (result.is_interrupted) {
        text += "\nInterrupted: the figures and the audit cover the part that was run.\n";
    }
    return text + "\n" + to_text(result.audit);
}

std::string to_json(const run_result& result) {
    std::string text;
    json::writer out(text, json::layout::indented);
    out.begin_object();
    out.member("good", result.is_good());
    out.member("interrupted", result.is_interrupted);
    out.key("phases");
    out.begin_array();
    for (const phase_result& phase : result.phases) {
        out.begin_object();
        out.member("name", phase.name);
        write_figures(out, phase.measured.key_value);
        out.key("http");
        out.begin_object();
        write_figures(out, phase.measured.http);
        out.end_object();
        out.end_object();
    }
    out.end_array();
    if (result.memory) {
        out.key("memory");
        out.begin_object();
        out.member("begin_mib", result.memory->begin_mib);
        out.member("end_mib", result.memory->end_mib);
        out.member("peak_mib", result.memory->peak_mib);
        out.member("growth_max_mib", result.memory->growth_max_mib);
        out.end_object();
    }
    write_audit(out, result.audit);
    out.end_object();
    return text + "\n";
}

}  // namespace reprise::demo
