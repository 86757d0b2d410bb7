#pragma once

/// The commands that change the nodes of a running sandbox.

#include <CLI/CLI.hpp>

namespace reprise::app {

/// Adds `topology` below `reprise sandbox`.
void add_sandbox_topology_commands(CLI::App& sandbox);

}  // namespace reprise::app
