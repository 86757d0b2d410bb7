/// `reprise ping` checks that each service answers; `reprise diagnostics` shows the resulting
/// connections.

#include <algorithm>
#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

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

using ping_result = std::expected<void, couchbase::error>;

// A check that has no time left still reports why it failed.
constexpr duration shortest_check = std::chrono::milliseconds{1};

[[nodiscard]] duration ping_timeout(const opened_cluster& at) {
    return at.access.timeout.value_or(std::chrono::seconds{2});
}

// A service that no node offers is reported at once; everything else is tried until the timeout.
[[nodiscard]] ping_result ping_http(
    const opened_cluster& at, wire::service asked, duration timeout) {
    const auto answer = at.cluster.management_request(
        {.service = static_cast<service_kind>(asked),
         .target = std::string(wire::facts_of(asked).health_path)},
        {.timeout = timeout,
         .strategy = couchbase::overriding(
             std::make_shared<couchbase::fail_fast_on_terminal_error_strategy>(),
             {{couchbase::retry_reason::service_not_available, couchbase::retry_action::no()}})});
    return answer ? ping_result() : std::unexpected(answer.error());
}

[[nodiscard]] bool is_not_offered(const ping_result& result) {
    return !result &&
           result.error().info().last_reason == couchbase::retry_reason::service_not_available;
}

// The error, and what prevents the connection.
[[nodiscard]] std::string failure_text(const couchbase::error& failed) {
    const std::string& detail = failed.info().detail;
    return failed.code().message() + (detail.empty() ? "" : ": " + detail);
}

// A check would send the password in clear text: only the user can allow that, and it is not a
// fault of the service.
[[nodiscard]] bool is_not_checked(const ping_result& result) {
    return !result && result.error().code() == couchbase::errc::plain_http_not_allowed;
}

struct ping_row {
    std::string_view name;
    std::chrono::duration<double, std::milli> time{};
    ping_result result;

    // False if the service was checked and did not answer.
    [[nodiscard]] bool is_well() const {
        return result || is_not_offered(result) || is_not_checked(result);
    }
    // The state as used in JSON.
    [[nodiscard]] std::string_view state() const {
        if (result) {
            return "ok";
        }
        return is_not_offered(result)   ? "not_offered"
               : is_not_checked(result) ? "not_checked"
                                        : "failed";
    }
};

[[nodiscard]] std::string to_line(const ping_row& row) {
    if (is_not_offered(row.result)) {
        return fmt::format("{:<10} {:>12}  not offered\n", row.name, "-");
    }
    if (is_not_checked(row.result)) {
        return fmt::format(
            "{:<10} {:>12}  not checked: HTTP without TLS would expose the password; use "
            "couchbases://, or --allow-plain-http\n",
            row.name, "-");
    }
    return fmt::format(
        "{:<10} {:>9.3f} ms  {}\n", row.name, row.time.count(),
        row.result ? "ok" : failure_text(row.result.error()));
}

void write_json(json::writer& out, const ping_row& row) {
    const bool was_asked = row.result || !row.is_well();
    out.begin_object();
    out.member("service", row.name);
    out.member("state", row.state());
    if (was_asked) {
        out.member("ms", row.time.count());
    }
    if (!row.is_well()) {
        out.key("error").raw(to_json(row.result.error()));
    }
    out.end_object();
}

// Prints each row when it is ready; as JSON, all rows at the end.
class ping_printer {
public:
    explicit ping_printer(bool is_json) : is_json_(is_json) {
        out_.begin_object().key("services").begin_array();
    }
    void add(const ping_row& row) {
        is_well_ = is_well_ && row.is_well();
        if (is_json_) {
            write_json(out_, row);
        } else {
            print(to_line(row));
        }
    }
    // Returns true if every checked service answered.
    [[nodiscard]] bool end() {
        out_.end_array().member("ok", is_well_).end_object();
        if (is_json_) {
            print(text_ + "\n");
        }
        return is_well_;
    }

private:
    bool is_json_;
    bool is_well_ = true;
    std::string text_;
    json::writer out_{text_, json::layout::indented};
};

// Measures one check.
template <class Ask>
[[nodiscard]] ping_row timed(std::string_view name, const Ask& ask) {
    const auto begun = std::chrono::steady_clock::now();
    ping_result result = ask();
    return {name, std::chrono::steady_clock::now() - begun, std::move(result)};
}

// Key-value first, because it finds the other services. These are asked at once, each in a thread
// of its own: all checks together take no longer than the timeout.
void run_ping(const health_options& options) {
    const auto opened = open_cluster(options.access, access_kind::reads);
    const auto deadline = std::chrono::steady_clock::now() + ping_timeout(opened);
    ping_printer printer(options.is_json);
    printer.add(timed("key-value", [&] {
        return opened.cluster.bucket(opened.access.bucket).wait_until_ready(ping_timeout(opened));
    }));
    const duration left =
        std::max<duration>(deadline - std::chrono::steady_clock::now(), shortest_check);
    std::vector<std::future<ping_row>> rows;
    for (const wire::service each : wire::list_services(wire::is_http_service)) {
        rows.push_back(std::async(std::launch::async, [&opened, each, left] {
            return timed(to_string(each), [&] { return ping_http(opened, each, left); });
        }));
    }
    for (auto& row : rows) {
        printer.add(row.get());
    }
    if (!printer.end()) {
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
    const auto ready =
        opened.cluster.bucket(opened.access.bucket).wait_until_ready(ping_timeout(opened));
    if (!ready) {
        complain(ready.error().message());
    } else {
        for (const wire::service each : wire::list_services(wire::is_http_service)) {
            if (const auto answered = ping_http(opened, each, ping_timeout(opened));
                !answered && !is_not_offered(answered)) {
                complain(fmt::format("{}: {}", to_string(each), answered.error().message()));
            }
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
    add_health_command(app, "ping", "Check that each service of a cluster answers", run_ping)
        ->footer(
            "A service that does not answer is a failure (1); one that is not offered is not.\n\n" +
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
