#pragma once

/// One command to a running sandbox: which one is meant, how its answer is printed.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <CLI/CLI.hpp>

#include <reprise/json/value.hpp>

namespace reprise::app {

/// Which sandbox is meant, and how its answer is wanted.
struct remote_options {
    std::string ready_file;
    std::string control;
    std::string token;
    bool json = false;
};

/// Adds `--ready-file`, `--control`, `--token` and `--json`.
void add_remote_options(CLI::App& command, const std::shared_ptr<remote_options>& typed);

using table_function = std::string (*)(const json::value&);

/// Sends a command and prints the answer, as JSON or by `table`. Throws `usage_error` that names
/// the option the sandbox complains of, or `failure`.
void run_remote(const remote_options& typed, const json::value& command, table_function table);

/// A table for commands that answer nothing.
[[nodiscard]] std::string say_done(const json::value& answer);

/// "200ms", "1s", "50us" rounded up, or a plain number of milliseconds. Throws `usage_error` that
/// names the option.
[[nodiscard]] std::uint64_t parse_milliseconds(std::string_view option, std::string_view text);

}  // namespace reprise::app
