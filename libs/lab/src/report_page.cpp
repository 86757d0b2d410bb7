#include <reprise/lab/report.hpp>

#include <reprise/lab/page.hpp>

#include "embedded.hpp"
#include "summary.hpp"

namespace reprise::lab {

namespace {

[[nodiscard]] std::string table_head(const comparison& compared) {
    std::string head = "<th></th>";
    for (const strategy_result& each : compared.results) {
        head += "<th scope=\"col\">" + html_text(each.strategy.name) + "</th>";
    }
    return head;
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

[[nodiscard]] std::string settings_list(const comparison& compared) {
    std::string list;
    for (const strategy_result& each : compared.results) {
        list += "<dt>" + html_text(each.strategy.name) + "</dt><dd>" +
                html_text(describe(each.strategy.retries)) +
                (each.strategy.is_in_every_layer ? "; in every layer" : "") + "</dd>\n";
    }
    return list;
}

}  // namespace

std::string to_html(const comparison& compared, std::string_view command) {
    const scenario& about = compared.scenario;
    return make_page(
        embedded::page(), {{"charts", std::string(embedded::charts())},
                           {"title", html_text(about.title)},
                           {"description", html_text(describe(about.model))},
                           {"summary", html_text(about.summary)},
                           {"command", html_text(command)},
                           {"reading", html_text(to_reading(compared))},
                           {"head", table_head(compared)},
                           {"rows", table_rows(compared)},
                           {"settings", settings_list(compared)},
                           {"data", script_text(to_json(compared, command))}});
}

}  // namespace reprise::lab
