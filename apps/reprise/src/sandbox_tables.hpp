#pragma once

/// What the sandbox's control API answers, as tables for people.

#include <string>
#include <vector>

#include <reprise/json/value.hpp>

namespace reprise::app {

/// Rows of cells under a heading, columns as wide as their longest cell. Ends in a newline.
[[nodiscard]] std::string to_columns(
    const std::vector<std::string>& heading, const std::vector<std::vector<std::string>>& rows);

[[nodiscard]] std::string status_tables(const json::value& answer);
[[nodiscard]] std::string fault_table(const json::value& answer);
[[nodiscard]] std::string audit_tables(const json::value& answer);

}  // namespace reprise::app
