#pragma once

#include <optional>
#include <string_view>

#include <reprise/json/value.hpp>
#include <reprise/sandbox/cluster.hpp>
#include <reprise/sandbox/control.hpp>

#include "control_fields.hpp"

namespace reprise::sandbox::detail {

// The commands that add, remove, restart and rebalance nodes; see control.hpp. Empty: the command
// is none of these, and no field was read.
std::optional<json::value> handle_topology_command(
    cluster& target, std::string_view command, field_reader& fields, control_front* front);

}  // namespace reprise::sandbox::detail
