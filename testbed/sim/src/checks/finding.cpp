#include <reprise/sim/finding.hpp>

#include <array>

#include "scenario/duration_text.hpp"

namespace reprise::sim {

std::string_view to_string(checker which) noexcept {
    constexpr std::array<std::string_view, checker_count> names = {
        "completion",    "deadline", "ledger",   "ambiguity", "repetition", "strategy",
        "delay",         "wake_up",  "credit",   "opaque",    "answer",     "routing",
        "configuration", "terminal", "history",  "budget",    "error_map",  "documents",
        "liveness",      "leak",     "progress", "trust"};
    const auto index = static_cast<std::size_t>(which);
    return index < names.size() ? names[index] : "unknown";
}

std::string to_string(const finding& found) {
    std::string text = "+" + duration_text(found.at) + " ";
    text += to_string(found.what);
    if (found.operation) {
        text += ", operation " + std::to_string(*found.operation);
    }
    return text + ": " + found.text;
}

}  // namespace reprise::sim
