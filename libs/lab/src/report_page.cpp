#include <reprise/lab/report.hpp>

#include <utility>
#include <vector>

#include "embedded.hpp"
#include "number_text.hpp"
#include "summary.hpp"

namespace reprise::lab {

namespace {

[[nodiscard]] std::string html_text(std::string_view text) {
    std::string escaped;
    for (const char c : text) {
        switch (c) {
            case '&':
                escaped += "&amp;";
                break;
            case '<':
                escaped += "&lt;";
                break;
            case '>':
                escaped += "&gt;";
                break;
            case '"':
                escaped += "&quot;";
                break;
            default:
                escaped += c;
        }
    }
    return escaped;
}

[[nodiscard]] std::string table_rows(const comparison& compared) {
    std::string rows;
    for (const summary_row& row : summarise(compared)) {
        rows += "<tr><th scope=\"row\">" + html_text(row.label) + "</th>";
        for (const std::string& cell : row.cells) {
            rows += "<td>" + html_text(cell) + "</td>";
        }
        rows += "</tr>\n";
    }
    return rows;
}

[[nodiscard]] std::string settings_list(const storm_options& options) {
    const standard_options& standard = options.standard;
    const std::pair<std::string_view, std::string> lines[] = {
        {"clients", grouped(options.clients) + ", each with its own strategy and bucket"},
        {"requests",
         rate_text(options.requests_per_second) + " in total, at random times (Poisson)"},
        {"server", rate_text(options.capacity_per_second) +
                       ", one at a time, first come first "
                       "served; " +
                       grouped(options.queue_limit) + " may wait, more are rejected"},
        {"faults",
         percent(options.fault_share) + " of the work ends in an error even without an outage"},
        {"patience", "a client gives up an attempt after " + seconds_text(options.attempt_timeout) +
                         "; the server still does the work"},
        {"naive retries", std::to_string(options.attempts_max) + " attempts, no pause, no budget"},
        {"standard strategy", std::to_string(options.attempts_max) + " attempts; pause up to " +
                                  seconds_text(standard.backoff.base) + ", doubling up to " +
                                  seconds_text(standard.backoff.cap) + ", full jitter; bucket of " +
                                  decimal(standard.bucket.capacity, 0) + " units, a retry costs " +
                                  decimal(standard.prices.retry, 0) + ", after a timeout " +
                                  decimal(standard.prices.timeout, 0) + ", a success returns " +
                                  decimal(standard.prices.refund, 0)},
        {"seed", std::to_string(options.seed)},
    };
    std::string list;
    for (const auto& [name, value] : lines) {
        list += "<dt>" + html_text(name) + "</dt><dd>" + html_text(value) + "</dd>\n";
    }
    return list;
}

/// Replaces each `{{name}}`. Inserted text is not searched again.
[[nodiscard]] std::string fill_in(
    std::string_view page, const std::vector<std::pair<std::string_view, std::string>>& values) {
    std::string filled;
    while (!page.empty()) {
        const std::size_t open = page.find("{{");
        const std::size_t close = page.find("}}", open == page.npos ? 0 : open);
        if (open == page.npos || close == page.npos) {
            break;
        }
        filled.append(page.substr(0, open));
        const std::string_view name = page.substr(open + 2, close - open - 2);
        for (const auto& [key, value] : values) {
            if (key == name) {
                filled.append(value);
            }
        }
        page.remove_prefix(close + 2);
    }
    return filled.append(page);
}

/// Makes JSON safe inside a script element: only its strings contain `<`, which is escaped.
[[nodiscard]] std::string script_text(std::string_view json_text) {
    std::string escaped;
    for (const char c : json_text) {
        escaped += c == '<' ? "\\u003c" : std::string(1, c);
    }
    return escaped;
}

}  // namespace

std::string to_html(const comparison& compared, const report_heading& heading) {
    return fill_in(
        embedded::page(), {{"name", html_text(heading.name)},
                           {"title", html_text(heading.title)},
                           {"command", html_text(heading.command)},
                           {"reading", html_text(to_reading(compared))},
                           {"rows", table_rows(compared)},
                           {"settings", settings_list(compared.options)},
                           {"data", script_text(to_json(compared, heading))},
                           {"chart_library", std::string(embedded::chart_library())}});
}

}  // namespace reprise::lab
