/// `reprise ping` asks each service for a sign of life; `reprise diagnostics` shows the connections
/// that came of it.

#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <reprise/engine/service_exchange.hpp>

#include "commands.hpp"
#include "kv_access.hpp"
#include "output.hpp"

namespace reprise::app {

namespace {

using couchbase::service_kind;

struct health_options {
    kv_access_options access;
    bool is_json = false;
};

struct health_service {
    std::string_view name;
    service_kind service;
    wire::service wire_service;
};

constexpr std::array<health_service, 5> http_services{{
    {"management", service_kind::management, wire::service::management},
    {"query", service_kind::query, wire::service::query},
    {"analytics", service_kind::analytics, wire::service::analytics},
    {"search", service_kind::search, wire::service::search},
    {"views", service_kind::views, wire::service::views},
}};

using ping_result = std::expected<void, couchbase::error>;

[[nodiscard]] duration ping_timeout(const opened_cluster& at) {
    return at.access.timeout.value_or(std::chrono::seconds{2});
}

// A service that no node offers is told so at once; everything else is tried until the timeout.
[[nodiscard]] ping_result ping_http(const opened_cluster& at, const health_service& asked) {
    const auto answer = at.cluster.management_request(
        {.service = asked.service, .target = std::string(engine::health_path(asked.wire_service))},
        {.timeout = ping_timeout(at),
         .strategy = couchbase::overriding(
             std::make_shared<couchbase::terminal_error_strategy>(),
             {{couchbase::retry_reason::service_not_available, couchbase::retry_action::no()}})});
    return answer ? ping_result() : std::unexpected(answer.error());
}

[[nodiscard]] bool is_not_offered(const ping_result& result) {
    return !result &&
           result.error().info().last_reason == couchbase::retry_reason::service_not_available;
}

// The error, and what stands in the way.
[[nodiscard]] std::string failure_text(const couchbase::error& failed) {
    const std::string& detail = failed.info().detail;
    return failed.code().message() + (detail.empty() ? "" : ": " + detail);
}

// Asking would show the password: that is for the user to allow, and no fault of the service.
[[nodiscard]] bool is_not_checked(const ping_result& result) {
    return !result && result.error().code() == couchbase::errc::plain_http_not_allowed;
}

// One line; false if the service is there and did not answer.
bool print_ping(
    std::string_view name, std::chrono::duration<double, std::milli> took,
    const ping_result& result) {
    if (is_not_offered(result)) {
        print(fmt::format("{:<10} {:>12}  not offered\n", name, "-"));
        return true;
    }
    if (is_not_checked(result)) {
        print(fmt::format(
            "{:<10} {:>12}  not checked: HTTP without TLS would show the password; use "
            "couchbases://, or --allow-plain-http\n",
            name, "-"));
        return true;
    }
    print(fmt::format(
        "{:<10} {:>9.3f} ms  {}\n", name, took.count(),
        result ? "ok" : failure_text(result.error())));
    return result.has_value();
}

void run_ping(const health_options& options) {
    const auto opened = open_cluster(options.access);
    const auto now = [] { return std::chrono::steady_clock::now(); };
    auto begun = now();
    const auto documents =
        opened.cluster.bucket(opened.access.bucket).wait_until_ready(ping_timeout(opened));
    bool is_well = print_ping("key-value", now() - begun, documents);
    for (const health_service& each : http_services) {
        begun = now();
        const auto answered = ping_http(opened, each);
        is_well = print_ping(each.name, now() - begun, answered) && is_well;
    }
    if (!is_well) {
        throw exit_request(1);
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

// A client that nobody used has no connections to show: each service is asked once.
void run_diagnostics(const health_options& options) {
    const auto opened = open_cluster(options.access);
    const auto ready =
        opened.cluster.bucket(opened.access.bucket).wait_until_ready(ping_timeout(opened));
    if (!ready) {
        fmt::print(stderr, "reprise: {}\n", ready.error().message());
    } else {
        for (const health_service& each : http_services) {
            if (const auto answered = ping_http(opened, each);
                !answered && !is_not_offered(answered)) {
                fmt::print(stderr, "reprise: {}: {}\n", each.name, answered.error().message());
            }
        }
    }
    const auto report = opened.cluster.diagnostics();
    if (!report) {
        throw failure(report.error().message());
    }
    if (options.is_json) {
        print(to_json(*report) + "\n");
    } else {
        print_report(*report);
    }
    if (report->state != couchbase::cluster_state::online) {
        throw exit_request(1);
    }
}

using health_body = void (*)(const health_options&);

std::pair<CLI::App*, std::shared_ptr<health_options>> add_health_command(
    CLI::App& app, const char* name, const char* help, health_body body) {
    auto* command = app.add_subcommand(name, help);
    const auto options = std::make_shared<health_options>();
    add_access_options(*command, options->access);
    command->callback([options, body] { body(*options); });
    return {command, options};
}

}  // namespace

void add_health_commands(CLI::App& app) {
    auto* ping = add_health_command(
                     app, "ping", "Ask each service of a cluster for a sign of life", run_ping)
                     .first;
    ping->footer("Exit codes: 0 all services that are offered answered, 1 some did not.");
    auto [diagnostics, options] = add_health_command(
        app, "diagnostics", "Show the connections of a client that asked each service once",
        run_diagnostics);
    diagnostics->add_flag("--json", options->is_json, "As the SDKs write it");
    diagnostics->footer(
        "Columns: service, state, remote, local, bucket, last activity, id (as in the servers' "
        "logs) or what is wrong.\n"
        "Exit codes: 0 online, 1 degraded or offline.");
}

}  // namespace reprise::app
