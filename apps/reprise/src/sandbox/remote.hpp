#pragma once

/// The commands that talk to a running sandbox over its control API.

#include <CLI/CLI.hpp>

namespace reprise::app {

/// Adds `status`, `audit` and `fault` below `reprise sandbox`.
void add_sandbox_remote_commands(CLI::App& sandbox);

}  // namespace reprise::app
