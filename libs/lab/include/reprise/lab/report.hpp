#pragma once

/// A comparison as text, as data and as a page. All functions are pure: same input, same bytes.

#include <string>
#include <string_view>

#include <reprise/lab/storm.hpp>

namespace reprise::lab {

/// Heads the reports.
struct report_heading {
    std::string_view name;     ///< The scenario's name.
    std::string_view title;    ///< One line.
    std::string_view command;  ///< How to make this report again; may be empty.
};

/// An aligned table, one column per policy, with units; ends in a newline.
[[nodiscard]] std::string to_table(const comparison& compared);

/// What the figures mean, one plain paragraph without line breaks. It is made from the results: a
/// run in which naive retries recover says so.
[[nodiscard]] std::string to_reading(const comparison& compared);

/// Everything as one JSON object: options, totals, and series per second (an incomplete last second
/// is left out). No newline at the end.
[[nodiscard]] std::string to_json(const comparison& compared, const report_heading& heading);

/// One HTML file that needs nothing else, neither a network nor a neighbour file: the charting
/// library is inside.
[[nodiscard]] std::string to_html(const comparison& compared, const report_heading& heading);

}  // namespace reprise::lab
