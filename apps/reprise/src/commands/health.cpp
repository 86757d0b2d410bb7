/// `reprise ping` checks that each service answers; `reprise diagnostics` shows the resulting
/// connections.

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <reprise/base/enum_table.hpp>
#include <reprise/json/write.hpp>
#include <reprise/wire/service.hpp>

#include "commands/commands.hpp"
#include "kv_access.hpp"
#include "output/error_report.hpp"
#include "output/output.hpp"

namespace reprise::app {

namespace {

using couchbase::service_kind;

struct health_options {
    kv_access_options access;
    bool is_json = false;
};

static_assert(
    base::have_same_names<service_kind, wire::service, base::enumerator_count<service_kind>()>(),
    "the services of the client and of the protocol are the same numbers");

using couchbase::ping_state;
using couchbase::service_ping;

[[nodiscard]] duration ping_timeout(const opened_cluster& at) {
    return at.access.timeout.value_or(std::chrono::seconds{2});
}

// The error, and what prevents the connection.
[[nodiscard]] std::string failure_text(const couchbase::error& failed) {
    const std::string& detail = failed.info().detail;
    return failed.code().message() + (detail.empty() ? "" : ": " + detail);
}

// A check would send the password in clear text: only the user can allow that, and it is not a
// fault of the service.
[[nodiscard]] bool is_not_checked(const service_ping& row) {
    return row.failure && row.failure->code() == couchbase::errc::plain_http_not_allowed;
}

// False if the service was checked and did not answer.
[[nodiscard]] bool is_well(const service_ping& row) {
    return row.state == ping_state::ok || row.state == ping_state::not_offered ||
           is_not_checked(row);
}

// The state as used in JSON.
[[nodiscard]] std::string_view state_of(const service_ping& row) {
    if (is_not_checked(row)) {
        return "not_checked";
    }
    return is_well(row) ? to_string(row.state) : "failed";
}

[[nodiscard]] std::string_view name_of(const service_ping& row) {
    return row.service == service_kind::key_value
               ? "key-value"
               : wire::to_string(static_cast<wire::service>(row.service));
}

[[nodiscard]] double milliseconds_of(const service_ping& row) {
    return std::chrono::duration<double, std::milli>(row.latency).count();
}

[[nodiscard]] std::string to_line(const service_ping& row) {
    if (row.state == ping_state::not_offered) {
        return fmt::format("{:<10} {:>12}  {:<22} not offered\n", name_of(row), "-", "-");
    }
    if (is_not_checked(row)) {
        return fmt::format(
            "{:<10} {:>12}  {:<22} not checked: HTTP without TLS would expose the password; use "
            "couchbases://, or --allow-plain-http\n",
            name_of(row), "-", row.remote);
    }
    return fmt::format(
        "{:<10} {:>9.3f} ms  {:<22} {}\n", name_of(row), milliseconds_of(row),
        row.remote.empty() ? "-" : row.remote, row.failure ? failure_text(*row.failure) : "ok");
}

void write_json(json::writer& out, const service_ping& row) {
    out.begin_object();
    out.member("service", name_of(row));
    out.member("state", state_of(row));
    if (!row.remote.empty()) {
        out.member("remote", row.remote);
    }
    if (row.state == ping_state::ok || !is_well(row)) {
        out.member("ms", milliseconds_of(row));
    }
    if (!is_well(row)) {
        out.key("error").raw(to_json(*row.failure));
    }
    out.end_object();
}

void print_ping(const couchbase::ping_report& report, bool is_json) {
    if (!is_json) {
        for (const service_ping& row : report.services) {
            print(to_line(row));
        }
        return;
    }
    std::string text;
    json::writer out(text, json::layout::indented);
    out.begin_object().key("services").begin_array();
    for (const service_ping& row : report.services) {
        write_json(out, row);
    }
    out.end_array().member("ok", std::ranges::all_of(report.services, is_well)).end_object();
    print(text + "\n");
}

[[nodiscard]] couchbase::ping_report ping(const opened_cluster& at) {
    return take(at.cluster.bucket(at.access.bucket).ping({.timeout = ping_timeout(at)}));
}

void run_ping(const health_options& options) {
    const auto report = ping(open_cluster(options.access, access_kind::reads));
    print_ping(report, options.is_json);
    if (!std::ranges::all_of(report.services, is_well)) {
        throw exit_request(exit_code::failed);
    }
}

void print_report(const couchbase::diagnostics_report& report) {
    print(fmt::format("client {}: {}\n", report.id, to_string(report.state)));
    for (const couchbase::endpoint_report& each : report.endpoints) {
        const auto idle = each.last_activity.value_or(duration::zero());
        const std::string activity =
            each.last_activity
                ? fmt::format(
                      "{:.0f} ms ago", std::chrono::duration<double, std::milli>(idle).count())
                : "never";
        print(fmt::format(
            "{:<10} {:<13} {:<22} {:<22} {:<12} {:<14} {}\n", to_string(each.service),
            to_string(each.state), each.remote, each.local.empty() ? "-" : each.local,
            each.bucket.empty() ? "-" : each.bucket, activity,
            each.problem.empty() ? each.id : each.problem));
    }
}

// A new client has no connections to show, so each service is called once.
void run_diagnostics(const health_options& options) {
    const auto opened = open_cluster(options.access, access_kind::reads);
    for (const service_ping& row : ping(opened).services) {
        if (row.failure && row.state != ping_state::not_offered) {
            complain(fmt::format("{}: {}", name_of(row), row.failure->message()));
        }
        if (row.service == service_kind::key_value && row.failure) {
            break;  // the others fail for the same reason
        }
    }
    const auto report = opened.cluster.diagnostics();
    if (!report) {
        throw operation_failure(report.error());
    }
    if (options.is_json) {
        print(to_json(*report) + "\n");
    } else {
        print_report(*report);
    }
    if (report->state != couchbase::cluster_state::online) {
        throw exit_request(exit_code::failed);
    }
}

using health_body = void (*)(const health_options&);

CLI::App* add_health_command(CLI::App& app, const char* name, const char* help, health_body body) {
    auto* command = app.add_subcommand(name, help);
    const auto options = std::make_shared<health_options>();
    add_access_options(*command, options->access);
    command->add_flag("--json", options->is_json, "Print JSON");
    command->callback([options, body] { body(*options); });
    return command;
}

}  // namespace

void add_health_commands(CLI::App& app) {
    add_health_command(app, "ping", "Check that each node of a cluster answers", run_ping)
        ->footer(
            "A node that does not answer is a failure (1); a service that no node offers is "
            "not.\n\n" +
            exit_code_help() +
            "\nExamples:\n"
            "  reprise ping -c couchbase://host -u app\n"
            "  reprise ping --json -c couchbase://host -u app --timeout 500ms");
    add_health_command(
        app, "diagnostics", "Show the connections of a client that called each service once",
        run_diagnostics)
        ->footer(
            "Columns: service, state, remote, local, bucket, last activity, and the problem or,\n"
            "without one, the id (as in the servers' logs). JSON has the format of the SDKs. "
            "Degraded\n"
            "or offline is a failure (1).\n\n" +
            exit_code_help() +
            "\nExamples:\n"
            "  reprise diagnostics -c couchbase://host -u app\n"
            "  reprise diagnostics --json -c couchbase://host -u app");
}

}  // namespace reprise::app
