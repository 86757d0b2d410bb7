#include <exception>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "commands.hpp"
#include "output.hpp"

namespace {

using namespace reprise::app;

constexpr const char* footer =
    "Examples:\n"
    "  reprise lab list\n"
    "  reprise lab run metastable\n"
    "  reprise lab run outage --clients 100 --seed 7 --html storm.html\n"
    "\n"
    "Exit codes: 0 done, 1 failed, 2 wrong usage.";

[[nodiscard]] int report(exit_code code, const char* message) {
    fmt::print(stderr, "reprise: {}\n", message);
    if (code == exit_code::wrong_usage) {
        fmt::print(stderr, "Run with --help to see what is possible.\n");
    }
    return static_cast<int>(code);
}

int run(int argc, char** argv) {
    CLI::App app{"Retries that are right: see what they do in an outage.", "reprise"};
    app.footer(footer);
    app.set_version_flag("--version", "reprise " REPRISE_VERSION);
    app.require_subcommand(1);
    add_lab_command(app);
    add_sandbox_command(app);
    add_kv_commands(app);
    add_config_commands(app);
    add_explain_command(app);
    try {
        app.parse(argc, argv);
        return static_cast<int>(exit_code::ok);
    } catch (const CLI::Success& asked) {  // --help and --version end the parse this way.
        return app.exit(asked);
    } catch (const CLI::ParseError& error) {
        return report(exit_code::wrong_usage, error.what());
    } catch (const usage_error& error) {
        return report(exit_code::wrong_usage, error.what());
    } catch (const exit_request& asked) {
        return asked.code();
    }
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run(argc, argv);
    } catch (const std::exception& error) {
        return report(exit_code::failed, error.what());
    }
}
