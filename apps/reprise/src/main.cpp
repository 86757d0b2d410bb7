#include <exception>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "commands.hpp"
#include "output.hpp"

namespace {

using namespace reprise::app;

constexpr const char* description =
    "Retries that are right, and a Couchbase client that makes them: documents of a cluster, what "
    "a\n"
    "cluster says of itself, a test cluster with faults on demand, and models of retry storms.\n"
    "Without a cluster (-c) the commands start one of their own.";

constexpr const char* footer =
    "Examples:\n"
    "  reprise upsert airline_10 '{\"name\": \"Reprise Air\"}' -c couchbase://host -u app -b "
    "travel\n"
    "  reprise get airline_10 -c couchbase://host -u app -b travel\n"
    "  reprise query 'SELECT RAW 1' -c couchbase://host -u app\n"
    "  reprise config --key airline_10 -c couchbase://host\n"
    "  reprise explain KV_LOCKED\n"
    "  reprise demo --seconds 20\n"
    "  reprise verify -c couchbase://host -u app -b travel\n"
    "  reprise sandbox start --nodes 4 --bucket travel --user app --password secret\n"
    "  reprise sandbox run --bucket travel -- ./my_program\n"
    "  reprise sim --seeds 1..1000\n"
    "  reprise lab run outage --clients 100 --seed 7 --html storm.html\n"
    "\n"
    "Exit codes: 0 done, 1 failed, 2 wrong usage. Commands on documents have more: see\n"
    "reprise get --help. `sandbox run` ends with those of its command.";

[[nodiscard]] int report(exit_code code, const char* message) {
    fmt::print(stderr, "reprise: {}\n", message);
    if (code == exit_code::wrong_usage) {
        fmt::print(stderr, "Run with --help to see what is possible.\n");
    }
    return static_cast<int>(code);
}

int run(int argc, char** argv) {
    CLI::App app{description, "reprise"};
    app.footer(footer);
    app.set_version_flag("--version", "reprise " REPRISE_VERSION);
    app.require_subcommand(1);
    add_lab_command(app);
    add_sandbox_command(app);
    add_kv_commands(app);
    add_service_commands(app);
    add_health_commands(app);
    add_config_commands(app);
    add_explain_command(app);
    add_demo_commands(app);
    add_verify_command(app);
    add_sim_command(app);
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
