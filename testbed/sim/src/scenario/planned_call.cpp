#include <reprise/sim/planned_call.hpp>

#include <array>

namespace reprise::sim {

std::string_view to_string(prepared_choice choice) noexcept {
    constexpr std::array<std::string_view, prepared_choice_count> names = {
        "plain", "prepared", "prepared by a separate request"};
    const auto index = static_cast<std::size_t>(choice);
    return index < names.size() ? names[index] : "unknown";
}

std::string_view to_string(row_taking taking) noexcept {
    constexpr std::array<std::string_view, row_taking_count> names = {
        "at the end", "at once", "later", "never", "once, then cancels"};
    const auto index = static_cast<std::size_t>(taking);
    return index < names.size() ? names[index] : "unknown";
}

}  // namespace reprise::sim
