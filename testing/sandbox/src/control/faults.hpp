#pragma once

#include <optional>
#include <string_view>

#include <reprise/json/value.hpp>
#include <reprise/sandbox/cluster.hpp>

#include "control/fields.hpp"

namespace reprise::sandbox::detail {

// The commands that disturb; see control.hpp. They return nothing, and read no field, if the
// command is not one of theirs.

// Rules for key-value requests: fault_add and related commands.
std::optional<json::value> handle_rule_command(
    cluster& target, std::string_view command, field_reader& fields);
// Disturbances of nodes, codes, users, buckets, collections and durable writes.
std::optional<json::value> handle_disturbance_command(
    cluster& target, std::string_view command, field_reader& fields);

// Rules and audit of the HTTP services: service_fault_add and related commands.
std::optional<json::value> handle_service_command(
    cluster& target, std::string_view command, field_reader& fields);
// The rules of the services in the format of fault_list.
json::array describe_service_faults(cluster& target);

}  // namespace reprise::sandbox::detail
