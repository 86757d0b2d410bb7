#pragma once

/// Answers of the sandbox's control API as tables.

#include <string>
#include <string_view>
#include <vector>

#include <reprise/json/value.hpp>

namespace reprise::app {

/// Rows of cells under a heading; each column is as wide as its longest cell. Ends in a newline.
[[nodiscard]] std::string to_columns(
    const std::vector<std::string>& heading, const std::vector<std::vector<std::string>>& rows);

/// A member as a cell: text without quotes, everything else as JSON, "-" if it is missing.
[[nodiscard]] std::string cell(const json::value& row, std::string_view name);

/// The elements of a list; none if there is no such list.
[[nodiscard]] const json::array& list_of(const json::value& answer, std::string_view name);

/// A table of these members of each element.
[[nodiscard]] std::string member_table(
    const json::array& elements, const std::vector<std::string>& heading,
    const std::vector<std::string_view>& names);

[[nodiscard]] std::string status_tables(const json::value& answer);
[[nodiscard]] std::string fault_table(const json::value& answer);
[[nodiscard]] std::string audit_tables(const json::value& answer);

}  // namespace reprise::app
