#pragma once

#include <optional>
#include <string_view>

#include <reprise/json/value.hpp>
#include <reprise/sandbox/cluster.hpp>

#include "control/fields.hpp"

namespace reprise::sandbox::detail {

// The commands that disturb; see control.hpp. They return nothing, and read no field, if the
// command is not one of theirs.

// Fault rules: fault_add, service_fault_add and related commands.
std::optional<json::value> handle_rule_command(
    cluster& target, std::string_view command, field_reader& fields);
// Disturbances of nodes, codes, users, buckets, collections and durable writes.
std::optional<json::value> handle_disturbance_command(
    cluster& target, std::string_view command, field_reader& fields);

// The audit and the prepared statements of the HTTP services.
std::optional<json::value> handle_service_command(
    cluster& target, std::string_view command, field_reader& fields);

}  // namespace reprise::sandbox::detail
