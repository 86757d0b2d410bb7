#pragma once

#include <optional>
#include <string_view>

#include <reprise/json/value.hpp>
#include <reprise/sandbox/cluster.hpp>

#include "control/fields.hpp"

namespace reprise::sandbox::detail {

// The commands that disturb; see control.hpp. Empty: the command is none of these, and no field was
// read.

// Rules about requests: fault_add and its like.
std::optional<json::value> handle_rule_command(
    cluster& target, std::string_view command, field_reader& fields);
// What is the matter with nodes, codes, users, buckets, collections and durable writes.
std::optional<json::value> handle_disturbance_command(
    cluster& target, std::string_view command, field_reader& fields);

// Rules and audit of the HTTP services: service_fault_add and its like.
std::optional<json::value> handle_service_command(
    cluster& target, std::string_view command, field_reader& fields);
// Their rules as fault_list shows them.
json::array describe_service_faults(cluster& target);

}  // namespace reprise::sandbox::detail
