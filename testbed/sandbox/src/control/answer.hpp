#pragma once

#include <expected>
#include <optional>
#include <span>
#include <string_view>

#include <reprise/json/value.hpp>
#include <reprise/sandbox/cluster.hpp>

#include "control/fields.hpp"

// Functions shared by all commands of the control port.

namespace reprise::sandbox::detail {

inline json::value control_done() {
    return json::object{{"ok", true}};
}

inline json::value control_refusal(std::string_view text) {
    return json::object{{"ok", false}, {"error", text}};
}

inline json::value control_result(const std::expected<void, cluster_errc>& result) {
    return result ? control_done() : control_refusal(to_string(result.error()));
}

struct control_command {
    std::string_view name;
    json::value (*run)(cluster&, field_reader&);
};

// Runs the command of this name. Returns nothing, and reads no field, if there is none.
inline std::optional<json::value> run_command(
    std::span<const control_command> commands, cluster& target, std::string_view name,
    field_reader& fields) {
    for (const control_command& each : commands) {
        if (each.name == name) {
            return each.run(target, fields);
        }
    }
    return std::nullopt;
}

}  // namespace reprise::sandbox::detail
