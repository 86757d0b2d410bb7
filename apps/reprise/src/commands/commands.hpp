#pragma once

/// The commands of the program, one registration function per file `<name>.cpp`. Each adds a
/// subcommand with its options and help to `app`. The callback runs the command and reports errors
/// by throwing `usage_error` or `failure` (see `output.hpp`).

#include <CLI/CLI.hpp>

namespace reprise::app {

void add_lab_command(CLI::App& app);
void add_sandbox_command(CLI::App& app);
void add_kv_commands(CLI::App& app);
void add_service_commands(CLI::App& app);
void add_health_commands(CLI::App& app);
void add_config_commands(CLI::App& app);
void add_explain_command(CLI::App& app);
void add_demo_commands(CLI::App& app);
void add_verify_command(CLI::App& app);
void add_bench_command(CLI::App& app);
void add_sim_command(CLI::App& app);

}  // namespace reprise::app
