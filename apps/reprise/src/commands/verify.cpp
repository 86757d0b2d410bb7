/// `reprise verify`: checks that the client keeps its promises on this cluster.

#include <chrono>
#include <memory>
#include <random>
#include <string>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <reprise/json/parse.hpp>

#include "commands/commands.hpp"
#include "interrupt.hpp"
#include "kv_access.hpp"
#include "output/output.hpp"
#include "verify/checks.hpp"
#include "verify/load.hpp"
#include "verify/report.hpp"

namespace reprise::app {

namespace {

using clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

struct verify_options {
    kv_access_options access;
    std::string scope = "_default";
    std::string collection = "_default";
    std::int64_t load_seconds = 0;
    std::string report_file;
    bool is_json = false;
};

/// Runs one check and removes what it created, however it ends.
template <class Check>
void run_check(
    std::string_view name, verify_session& session, verify_result& result, const Check& check) {
    const auto start = clock::now();
    verify_row row{name, {}, {}};
    try {
        row.outcome = check();
    } catch (check_end& end) {
        row.outcome = std::move(end.outcome);
    } catch (const std::exception& error) {
        row.outcome = failed(error.what());
    }
    row.time = clock::now() - start;
    result.rows.push_back(std::move(row));
    for (std::string& each : session.clean_up()) {
        result.left.push_back(std::move(each));
    }
}

// A signal ends the run after the current check. The timeouts of its operations bound each check.
void run_checks(
    verify_session& session, std::chrono::seconds load, const interrupt_watch& watch,
    verify_result& result) {
    const auto run_all = [&](std::span<const verify_check> checks) {
        for (const verify_check& check : checks) {
            if (watch.has_come()) {
                return;
            }
            run_check(check.name, session, result, [&] { return check.run(session); });
        }
    };
    run_all(connection_checks().first(1));
    // Without a connection every further check would time out with the same message.
    if (result.rows.empty() || result.rows.front().outcome.state != check_state::ok) {
        return;
    }
    run_all(connection_checks().subspan(1));
    run_all(document_checks());
    run_all(read_checks());
    run_all(retry_checks());
    run_all(service_checks());
    run_all(management_checks());
    if (load != 0s && !watch.has_come()) {
        run_check("load", session, result, [&] {
            return run_load(session, load, [&watch] { return watch.has_come(); });
        });
    }
}

// Empty if the management service cannot be asked.
[[nodiscard]] std::string find_server_version(const verify_session& session) {
    const auto answer = session.cluster().management_request({.target = "/pools"}, {.timeout = 2s});
    const auto parsed = answer ? json::parse(answer->body) : json::parse("{}");
    const json::value* version = parsed ? parsed->root.find("implementationVersion") : nullptr;
    return std::string(version == nullptr ? "" : version->as_string().value_or(""));
}

[[nodiscard]] verify_result verify(const verify_options& options, const interrupt_watch& watch) {
    kv_access_options wanted = options.access;
    wanted.needs_services = true;
    kv_access access = open_access(wanted, access_kind::reads);
    if (access.timeout) {
        access.client.kv_timeout = *access.timeout;
    }
    std::random_device device;
    const std::uint64_t random = (std::uint64_t{device()} << 32U) | device();
    verify_session session(
        std::move(access), options.scope, options.collection,
        fmt::format("reprise-{:016x}-", random));
    const std::chrono::seconds load{options.load_seconds};
    verify_result result;
    run_checks(session, load, watch, result);
    result.is_interrupted = watch.has_come();
    const bool is_connected = result.rows.size() > 1;
    result.subject = {
        .connection = session.access().connection,
        .bucket = session.access().bucket,
        .scope = options.scope,
        .collection = options.collection,
        .load = load,
        .is_embedded = session.access().embedded != nullptr,
        .server_version = is_connected ? find_server_version(session) : ""};
    return result;
}

void run_verify(const verify_options& options) {
    const interrupt_watch watch;
    const verify_result result = verify(options, watch);
    print(options.is_json ? to_json(result) : to_text(result));
    if (!options.report_file.empty()) {
        write_file(options.report_file, to_json(result), file_choice::by_user);
    }
    for (const std::string& each : result.left) {
        complain("could not be removed: " + each);
    }
    if (!result.is_good()) {
        throw exit_request(exit_code::failed);
    }
    if (watch.has_come()) {
        throw exit_request(exit_code_of_signal(watch.number()));
    }
}

}  // namespace

void add_verify_command(CLI::App& app) {
    CLI::App* command =
        app.add_subcommand("verify", "Check that the client keeps its promises on your cluster");
    const auto options = std::make_shared<verify_options>();
    add_access_options(*command, options->access);
    command->add_option("--scope", options->scope, "Scope to work in")->capture_default_str();
    command->add_option("--collection", options->collection, "Collection to work in")
        ->capture_default_str();
    command
        ->add_option(
            "--load", options->load_seconds,
            fmt::format(
                "Also write for this many seconds, up to {} writes a second, and check that none "
                "is lost or duplicated",
                load_writes_per_second_max))
        ->check(CLI::Range(load_time_min.count(), load_time_max.count()));
    command->add_option(
        "--report", options->report_file,
        "Write a report as JSON to this file; it contains no passwords, users, documents or keys "
        "of yours");
    command->add_flag("--json", options->is_json, "Print the report as JSON");
    command->footer(
        "Uses only its own documents (keys with a random prefix), scopes and indexes. Each check\n"
        "removes what it created, even after a failure or Ctrl-C. Takes a few seconds. A check "
        "that\n"
        "fails is a failure (1); one that the cluster or the user's roles do not support is "
        "skipped.\n\n" +
        exit_code_help({exit_code::interrupted, exit_code::terminated}) +
        "\nExamples:\n"
        "  reprise verify -c couchbase://host -u app --password-file secret.txt -b travel\n"
        "  reprise verify --load 30 --report verify.json");
    command->callback([options] { run_verify(*options); });
}

}  // namespace reprise::app
