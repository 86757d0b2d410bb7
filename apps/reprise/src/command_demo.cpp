/// `reprise demo` and `reprise soak`: the client under trouble, with the books kept.

#include <memory>

#include <CLI/CLI.hpp>

#include "commands.hpp"
#include "demo/run.hpp"
#include "output.hpp"

namespace reprise::app {

namespace {

void add_demo(CLI::App& app) {
    CLI::App* command = app.add_subcommand(
        "demo", "A cluster, a load, and trouble for a minute; then the audit of every write");
    const auto options = std::make_shared<demo::demo_options>();
    command->add_option("--seconds", options->seconds, "Length of all phases together (60)")
        ->check(CLI::Range(2.0, 3600.0));
    command->add_option("--seed", options->seed, "Number that all randomness follows from (1)");
    command->add_flag("--plain", options->is_plain, "Lines instead of a live view");
    command->add_flag("--json", options->is_json, "One JSON object at the end, nothing else");
    command->footer(
        "Exit codes: 0 nothing lost or duplicated, 1 something was, 2 wrong usage\n"
        "Examples:\n"
        "  reprise demo\n"
        "  reprise demo --seconds 10 --plain\n"
        "  reprise demo --json > demo.json");
    command->callback([options] { throw exit_request(demo::run_demo(*options)); });
}

void add_soak(CLI::App& app) {
    CLI::App* command = app.add_subcommand(
        "soak", "Topology changes and faults without end; then the audit, and memory");
    const auto options = std::make_shared<demo::soak_options>();
    command->add_option("--minutes", options->minutes, "How long (5)")
        ->check(CLI::Range(0.1, 60.0 * 24 * 7));
    command->add_option("--seed", options->seed, "Number that all randomness follows from (1)");
    command->add_flag("--plain", options->is_plain, "Lines instead of a live view");
    command->add_flag("--json", options->is_json, "One JSON object at the end, nothing else");
    command->footer(
        "Exit codes: 0 clean and memory flat, 1 not so, 2 wrong usage\n"
        "Examples:\n"
        "  reprise soak --minutes 30\n"
        "  reprise soak --minutes 5 --seed 7 --json > soak.json");
    command->callback([options] { throw exit_request(demo::run_soak(*options)); });
}

}  // namespace

void add_demo_commands(CLI::App& app) {
    add_demo(app);
    add_soak(app);
}

}  // namespace reprise::app
