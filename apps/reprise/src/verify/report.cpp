#include "verify/report.hpp"

#include <sys/utsname.h>

#include <algorithm>

#include <fmt/format.h>

#include <reprise/json/write.hpp>
#include <reprise/retry/version.hpp>

#include "output/error_report.hpp"
#include "sandbox/tables.hpp"

namespace reprise::app {

namespace {

[[nodiscard]] std::size_t count_of(const verify_result& result, check_state state) {
    return static_cast<std::size_t>(std::ranges::count(
        result.rows, state, [](const verify_row& row) { return row.outcome.state; }));
}

[[nodiscard]] std::string system_name() {
    utsname facts{};
    return ::uname(&facts) == 0
               ? fmt::format("{} {} {}", facts.sysname, facts.release, facts.machine)
               : "unknown";
}

void write_versions(json::writer& out, const verify_subject& subject) {
    out.key("versions").begin_object();
    out.member("reprise", std::string_view(reprise::version));
    out.member("compiler", __VERSION__);
    out.member("system", system_name());
    out.member("server", subject.server_version);
    out.end_object();
}

void write_options(json::writer& out, const verify_subject& subject) {
    out.key("options").begin_object();
    out.member("connection", subject.connection);
    out.member("embedded", subject.is_embedded);
    out.member("bucket", subject.bucket);
    out.member("scope", subject.scope);
    out.member("collection", subject.collection);
    out.member("load_seconds", subject.load.count());
    out.end_object();
}

void write_row(json::writer& out, const verify_row& row) {
    out.begin_object();
    out.member("name", row.name);
    out.member("state", to_string(row.outcome.state));
    out.member("detail", row.outcome.detail);
    out.member("ms", row.time.count());
    if (row.outcome.error) {
        out.key("error").raw(to_json(*row.outcome.error));
    }
    out.end_object();
}

}  // namespace

bool verify_result::is_good() const noexcept {
    return left.empty() && std::ranges::none_of(rows, [](const verify_row& row) {
               return row.outcome.state == check_state::failed;
           });
}

std::string summary_of(const verify_result& result) {
    const std::size_t held = count_of(result, check_state::ok);
    const std::size_t skipped = count_of(result, check_state::skipped);
    return fmt::format("{} of {} held, {} skipped", held, result.rows.size() - skipped, skipped);
}

std::string to_text(const verify_result& result) {
    std::vector<std::vector<std::string>> cells;
    cells.reserve(result.rows.size());
    for (const verify_row& row : result.rows) {
        cells.push_back(
            {std::string(row.name), std::string(to_string(row.outcome.state)),
             fmt::format("{:.1f} ms", row.time.count()), row.outcome.detail});
    }
    return to_columns({"check", "result", "time", "detail"}, cells) + summary_of(result) + "\n";
}

std::string to_json(const verify_result& result) {
    std::string text;
    json::writer out(text, json::layout::indented);
    out.begin_object();
    write_versions(out, result.subject);
    write_options(out, result.subject);
    out.key("checks").begin_array();
    for (const verify_row& row : result.rows) {
        write_row(out, row);
    }
    out.end_array();
    out.member("summary", summary_of(result));
    out.member("interrupted", result.is_interrupted);
    out.key("left").begin_array();
    for (const std::string& each : result.left) {
        out.value(each);
    }
    out.end_array().end_object();
    return text + "\n";
}

}  // namespace reprise::app
