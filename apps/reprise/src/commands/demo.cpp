/// `reprise demo` and `reprise soak`: the client under faults, with an audit of every write.

#include <expected>
#include <memory>
#include <string>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <reprise/lab/page.hpp>

#include "commands/commands.hpp"
#include "demo/run.hpp"
#include "embedded.hpp"
#include "interrupt.hpp"
#include "output/output.hpp"

namespace reprise::app {

namespace {

// Runs until the end or a signal. A failed audit takes precedence over the signal.
template <class Options>
using run_function =
    std::expected<bool, std::string> (*)(const Options&, const demo::run_environment&);

template <class Options>
void run_watched(run_function<Options> run, const Options& options) {
    const interrupt_watch watch;
    const auto is_good =
        run(options, {.print = print, .print_control = print_control, .should_stop = [&watch] {
                          return watch.has_come();
                      }});
    if (!is_good) {
        throw failure(is_good.error());
    }
    if (!*is_good) {
        throw exit_request(exit_code::failed);
    }
    if (watch.has_come()) {
        throw exit_request(exit_code_of_signal(watch.number()));
    }
}

constexpr const char* signal_text =
    "SIGINT (Ctrl-C) and SIGTERM end the run early, with the audit so far; a second one ends it "
    "at\n"
    "once.";

[[nodiscard]] std::string make_footer(const char* verdict, const char* examples) {
    return fmt::format(
        "{}\n{}\n\n{}\nExamples:\n{}", verdict, signal_text,
        exit_code_help({exit_code::interrupted, exit_code::terminated}), examples);
}

[[nodiscard]] std::string make_demo_page(
    const demo::demo_record& record, const std::string& command) {
    return lab::make_page(
        embedded::demo_page(), {{"title", "A cluster in trouble, and what the client made of it"},
                                {"verdict", record.is_good ? "Clean" : "Failed"},
                                {"description", lab::html_text(record.description)},
                                {"audit", lab::html_text(record.audit)},
                                {"data", lab::script_text(record.json)},
                                {"command", lab::html_text(command)}});
}

void add_demo(CLI::App& app) {
    CLI::App* command = app.add_subcommand(
        "demo", "Run a cluster under load and faults for a minute, then audit every write");
    const auto options = std::make_shared<demo::demo_options>();
    command->add_option("--seconds", options->seconds, "Total length of all phases (60)")
        ->check(CLI::Range(2.0, 3600.0));
    command->add_option("--seed", options->seed, "Seed of all randomness (1)");
    command->add_flag("--plain", options->is_plain, "Print lines instead of a live view");
    command->add_flag("--json", options->is_json, "Print only one JSON object at the end");
    const auto html = std::make_shared<std::string>();
    command->add_option("--html", *html, "File for a page with the curves of the run");
    command->footer(make_footer(
        "A write that was lost or duplicated is a failure (1).",
        "  reprise demo\n"
        "  reprise demo --html demo.html\n"
        "  reprise demo --seconds 10 --plain\n"
        "  reprise demo --json > demo.json"));
    command->callback([options, html] {
        if (!html->empty()) {
            const std::string typed = fmt::format(
                "reprise demo --seconds {} --seed {} --html {}", options->seconds, options->seed,
                *html);
            options->on_record = [html, typed](const demo::demo_record& record) {
                write_file(*html, make_demo_page(record, typed), file_choice::by_user);
            };
        }
        run_watched(demo::run_demo, *options);
    });
}

void add_soak(CLI::App& app) {
    CLI::App* command = app.add_subcommand(
        "soak", "Run continuous topology changes and faults, then audit writes and memory");
    const auto options = std::make_shared<demo::soak_options>();
    command->add_option("--minutes", options->minutes, "Length of the run (5)")
        ->check(CLI::Range(0.1, 60.0 * 24 * 7));
    command->add_option("--seed", options->seed, "Seed of all randomness (1)");
    command->add_flag("--plain", options->is_plain, "Print lines instead of a live view");
    command->add_flag("--json", options->is_json, "Print only one JSON object at the end");
    command->footer(make_footer(
        "A write that was lost or duplicated, or memory that grew, is a failure (1).",
        "  reprise soak --minutes 30\n"
        "  reprise soak --minutes 5 --seed 7 --json > soak.json"));
    command->callback([options] { run_watched(demo::run_soak, *options); });
}

}  // namespace

void add_demo_commands(CLI::App& app) {
    add_demo(app);
    add_soak(app);
}

}  // namespace reprise::app
