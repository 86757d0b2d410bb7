/// The demonstration with a client that is broken on purpose: the one rule that forbids to repeat a
/// write or a statement whose connection closed in flight is left out. It shows that the audit
/// finds duplicates; it is never installed.

#include <exception>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "demo/run.hpp"

int main(int argc, char** argv) {
    CLI::App app{"The demonstration with a client that repeats writes", "reprise-unsafe-demo"};
    reprise::demo::demo_options options;
    options.warning =
        "BROKEN ON PURPOSE: this client sends a write again after its connection closed in flight\n"
        "(rule RH-16 is left out), and statements as well. Watch `twice` and `duplicated` in the\n"
        "audit at the end.\n";
    app.add_option("--seconds", options.seconds, "Length of all phases (60)")
        ->check(CLI::Range(2.0, 3600.0));
    app.add_option("--seed", options.seed, "Number that all randomness follows from (1)");
    app.add_flag("--plain", options.is_plain, "Lines instead of a live view");
    app.add_flag("--json", options.is_json, "One JSON object at the end, nothing else");
    try {
        app.parse(argc, argv);
        return reprise::demo::run_demo(options);
    } catch (const CLI::ParseError& stopped) {
        return app.exit(stopped);
    } catch (const std::exception& error) {
        fmt::print(stderr, "reprise-unsafe-demo: {}\n", error.what());
        return 1;
    }
}
