#pragma once

#include <optional>
#include <string_view>

#include <reprise/json/value.hpp>
#include <reprise/sandbox/cluster.hpp>
#include <reprise/sandbox/control.hpp>
#include <reprise/wire/cluster_node.hpp>

#include "control/fields.hpp"

namespace reprise::sandbox::detail {

// The commands that add, remove, restart and rebalance nodes; see control.hpp. Empty: the command
// is none of these, and no field was read.
std::optional<json::value> handle_topology_command(
    cluster& target, std::string_view command, field_reader& fields, control_front* front);

// A node's ports by name, 0: none. Those of query, analytics, search and views are left out if
// there are none.
void set_ports(json::object& described, const wire::cluster_node& at);

}  // namespace reprise::sandbox::detail
