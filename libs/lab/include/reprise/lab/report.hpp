#pragma once

/// A comparison as text, as data and as a page. All functions are pure: the same input gives the
/// same bytes.

#include <string>
#include <string_view>

#include <reprise/lab/storm.hpp>

namespace reprise::lab {

/// The heading of a report.
struct report_heading {
    std::string_view name;     ///< The scenario's name.
    std::string_view title;    ///< One line.
    std::string_view command;  ///< How to create this report again; may be empty.
};

/// Returns an aligned table with one column per policy, and with units. It ends with a newline.
[[nodiscard]] std::string to_table(const comparison& compared);

/// Explains the figures in one plain paragraph without line breaks. It follows the results: if
/// naive retries recover in a run, it says so.
[[nodiscard]] std::string to_reading(const comparison& compared);

/// Returns everything as one JSON object: options, totals, and series per second (without an
/// incomplete last second). There is no newline at the end.
[[nodiscard]] std::string to_json(const comparison& compared, const report_heading& heading);

/// Returns one self-contained HTML file, which needs neither a network nor other files: it contains
/// the charting library.
[[nodiscard]] std::string to_html(const comparison& compared, const report_heading& heading);

}  // namespace reprise::lab
