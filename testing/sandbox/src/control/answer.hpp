#pragma once

#include <expected>
#include <string_view>

#include <reprise/json/value.hpp>
#include <reprise/sandbox/cluster.hpp>

// The parts of an answer that all commands of the control port share.

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

}  // namespace reprise::sandbox::detail
