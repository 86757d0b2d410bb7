#pragma once

/// What the sandbox's control API answers, as tables for people.

#include <string>
#include <string_view>
#include <vector>

#include <reprise/json/value.hpp>

namespace reprise::app {

/// Rows of cells under a heading, columns as wide as their longest cell. Ends in a newline.
[[nodiscard]] std::string to_columns(
    const std::vector<std::string>& heading, const std::vector<std::vector<std::string>>& rows);

/// A member as a cell: text without quotes, everything else as JSON, "-" for nothing.
[[nodiscard]] std::string cell(const json::value& row, std::string_view name);

/// The elements of a list, none if there is no such list.
[[nodiscard]] const json::array& list_of(const json::value& answer, std::string_view name);

/// A table of these members of each element.
[[nodiscard]] std::string member_table(
    const json::array& elements, const std::vector<std::string>& heading,
    const std::vector<std::string_view>& names);

[[nodiscard]] std::string status_tables(const json::value& answer);
[[nodiscard]] std::string fault_table(const json::value& answer);
[[nodiscard]] std::string audit_tables(const json::value& answer);

}  // namespace reprise::app
