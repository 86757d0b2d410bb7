#pragma once

/// Where the scenarios and strategies of `reprise lab` come from.

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include <reprise/lab/scenario.hpp>

namespace reprise::app {

/// The largest scenario or settings file that is read.
inline constexpr std::size_t lab_file_size_max_bytes = 1'000'000;

/// Arguments that choose a scenario.
struct scenario_source {
    std::string name;  ///< Of the gallery, or a file.
    std::vector<std::string> strategies;
    std::vector<std::string> overrides;  ///< "path=value"
    std::string seed;
};

/// Adds the options of a source to a command.
void add_source_options(CLI::App& command, scenario_source& into);

/// Reads the scenario, with its strategies replaced by those chosen. Throws `usage_error` with
/// line and path, or `failure` if a file cannot be read.
[[nodiscard]] lab::scenario load_scenario(const scenario_source& from);

/// The shortest command that reproduces `what` ("run", "region").
[[nodiscard]] std::string command_of(const std::string& what, const scenario_source& from);

}  // namespace reprise::app
