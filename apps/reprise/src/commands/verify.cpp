/// `reprise verify`: checks that the client keeps its promises on this cluster.

#include <chrono>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <reprise/json/write.hpp>

#include "commands/commands.hpp"
#include "interrupt.hpp"
#include "kv_access.hpp"
#include "output/output.hpp"
#include "sandbox/tables.hpp"
#include "verify/checks.hpp"

namespace reprise::app {

namespace {

using clock = std::chrono::steady_clock;

struct verify_options {
    kv_access_options access;
    std::string scope = "_default";
    std::string collection = "_default";
    bool is_json = false;
};

struct verify_row {
    std::string_view name;
    check_outcome outcome;
    std::chrono::duration<double, std::milli> time{};
};

[[nodiscard]] verify_row run_check(const verify_check& check, verify_session& session) {
    const auto start = clock::now();
    verify_row row{check.name, {}, {}};
    try {
        row.outcome = check.run(session);
    } catch (const std::exception& error) {
        row.outcome = failed(error.what());
    }
    row.time = clock::now() - start;
    return row;
}

// A signal ends the run after the current check, so that the documents are removed. The timeouts of
// its operations bound each check.
[[nodiscard]] std::vector<verify_row> run_checks(
    verify_session& session, const interrupt_watch& watch) {
    std::vector<verify_row> rows;
    const auto run_all = [&](std::span<const verify_check> checks) {
        for (const verify_check& check : checks) {
            if (watch.has_come()) {
                return;
            }
            rows.push_back(run_check(check, session));
        }
    };
    run_all(connection_checks());
    // Without a connection every further check would time out with the same message.
    if (!rows.empty() && rows.front().outcome.state == check_state::ok) {
        run_all(document_checks());
        run_all(retry_checks());
    }
    return rows;
}

[[nodiscard]] std::string_view to_word(check_state state) noexcept {
    switch (state) {
        case check_state::ok:
            return "ok";
        case check_state::skipped:
            return "skipped";
        case check_state::failed:
            break;
    }
    return "FAILED";
}

void print_rows(
    const std::vector<verify_row>& rows, std::size_t left, bool is_interrupted, bool is_json) {
    if (is_json) {
        std::string text;
        json::writer out(text, json::layout::indented);
        out.begin_object();
        out.key("checks");
        out.begin_array();
        for (const verify_row& row : rows) {
            out.begin_object();
            out.member("name", row.name);
            out.member("state", to_word(row.outcome.state));
            out.member("detail", row.outcome.detail);
            out.member("ms", row.time.count());
            out.end_object();
        }
        out.end_array();
        out.member("interrupted", is_interrupted);
        out.member("documents_left", left);
        out.end_object();
        print(text + "\n");
        return;
    }
    std::vector<std::vector<std::string>> cells;
    cells.reserve(rows.size());
    for (const verify_row& row : rows) {
        cells.push_back(
            {std::string(row.name), std::string(to_word(row.outcome.state)),
             fmt::format("{:.1f} ms", row.time.count()), row.outcome.detail});
    }
    print(to_columns({"check", "result", "time", "detail"}, cells));
}

void run_verify(const verify_options& options) {
    const interrupt_watch watch;
    kv_access access = open_access(options.access, access_kind::reads);
    if (access.timeout) {
        access.client.kv_timeout = *access.timeout;
    }
    std::random_device device;
    const std::uint64_t random = (std::uint64_t{device()} << 32U) | device();
    verify_session session(
        std::move(access), options.scope, options.collection,
        fmt::format("reprise-{:016x}-", random));
    const std::vector<verify_row> rows = run_checks(session, watch);
    const std::size_t left = session.clean_up();
    print_rows(rows, left, watch.has_come(), options.is_json);
    bool is_good = left == 0;
    for (const verify_row& row : rows) {
        is_good = is_good && row.outcome.state != check_state::failed;
    }
    if (left != 0) {
        complain(fmt::format(
            "{} documents could not be removed; their keys begin with {}", left, session.prefix()));
    }
    if (!is_good) {
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
    command->add_flag("--json", options->is_json, "Print the results as JSON");
    command->footer(
        "Writes only its own documents (keys with a random prefix) and removes them at the "
        "end,\n"
        "even after a failure or Ctrl-C. Takes a few seconds. A check that fails is a failure "
        "(1);\n"
        "one that the cluster does not support is skipped.\n\n" +
        exit_code_help({exit_code::interrupted, exit_code::terminated}) +
        "\nExamples:\n"
        "  reprise verify -c couchbase://host -u app --password-file secret.txt -b travel\n"
        "  reprise verify --json");
    command->callback([options] { run_verify(*options); });
}

}  // namespace reprise::app
