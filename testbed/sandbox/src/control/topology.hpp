#pragma once

#include <optional>
#include <string_view>

#include <reprise/json/value.hpp>
#include <reprise/sandbox/cluster.hpp>
#include <reprise/sandbox/control.hpp>
#include <reprise/wire/cluster_node.hpp>

#include "control/fields.hpp"

namespace reprise::sandbox::detail {

// The commands that add, remove, restart and rebalance nodes; see control.hpp. Returns nothing, and
// reads no field, if the command is not one of them.
std::optional<json::value> handle_topology_command(
    cluster& target, std::string_view command, field_reader& fields, control_front* front);

// Sets a node's ports by name, 0: none. Omits those of query, analytics, search and views if the
// node has none.
void set_ports(json::object& described, const wire::cluster_node& at);

}  // namespace reprise::sandbox::detail
