#pragma once

/// One command to a running sandbox: finding the sandbox, sending, printing the answer.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <CLI/CLI.hpp>

#include <reprise/json/value.hpp>

namespace reprise::app {

/// Which sandbox to use, and how to print its answer.
struct remote_options {
    std::string ready_file;
    std::string control;
    std::string token;
    bool json = false;
};

/// Adds `--ready-file`, `--control`, `--token` and `--json`.
void add_remote_options(CLI::App& command, const std::shared_ptr<remote_options>& typed);

using table_function = std::string (*)(const json::value&);

/// Sends a command and prints the answer, as JSON or with `table`. Throws `usage_error` naming the
/// option that the sandbox refused, or `failure`.
void run_remote(const remote_options& typed, const json::value& command, table_function table);

/// A table function for commands with an empty answer.
[[nodiscard]] std::string print_done(const json::value& answer);

/// Parses "200ms", "2.5s", "50us" (rounded up to milliseconds) or "0", at most one day. Throws
/// `usage_error` naming the option.
[[nodiscard]] std::uint64_t parse_milliseconds(std::string_view option, std::string_view text);

}  // namespace reprise::app
