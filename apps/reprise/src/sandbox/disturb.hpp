#pragma once

/// Disturbances of nodes, codes, users, buckets and durable writes of a sandbox.

#include <CLI/CLI.hpp>

namespace reprise::app {

/// Adds `node`, `nodes`, `kill`, `replay`, `code`, `user`, `bucket`, `collection`, `hold` and
/// `durability` below `reprise sandbox fault`.
void add_sandbox_disturb_commands(CLI::App& fault);

}  // namespace reprise::app
