#pragma once

/// Pages in the lab's style: self-contained, light and dark, with charts.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace reprise::lab {

/// Escapes text for elements and attributes.
[[nodiscard]] std::string html_text(std::string_view text);

/// Makes JSON safe inside a script element: only its strings contain `<`, which is escaped.
[[nodiscard]] std::string script_text(std::string_view json_text);

/// Replaces each `{{name}}`. Inserted text is not searched again.
[[nodiscard]] std::string fill_in(
    std::string_view page, const std::vector<std::pair<std::string_view, std::string>>& values);

/// As `fill_in`, with what pages share: `{{style}}`, `{{chart_library}}` (Chart.js) and
/// `{{chart_parts}}` (functions for charts in this style).
[[nodiscard]] std::string make_page(
    std::string_view page, std::vector<std::pair<std::string_view, std::string>> values);

}  // namespace reprise::lab
