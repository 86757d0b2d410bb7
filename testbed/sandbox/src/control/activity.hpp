#pragma once

#include <optional>
#include <string_view>

#include <reprise/json/value.hpp>
#include <reprise/sandbox/cluster.hpp>

#include "control/fields.hpp"

namespace reprise::sandbox::detail {

// The commands that show what the cluster does: activity and vbucket_map. Returns nothing, and
// reads no field, if the command is not one of them.
std::optional<json::value> handle_activity_command(
    cluster& target, std::string_view command, field_reader& fields);

}  // namespace reprise::sandbox::detail
