#pragma once

/// A comparison as text, as data and as a page. All functions are pure: the same input gives the
/// same bytes.

#include <string>
#include <string_view>

#include <reprise/lab/scenario.hpp>

namespace reprise::lab {

/// "5 attempts; up to 1 s, x 2, at most 20 s, full jitter; bucket of 500, ..."
[[nodiscard]] std::string describe(const retry_options& retries);

/// The figures that distinguish reports of one scenario, in one line: "20 clients, 750
/// requests/s; server 1,000/s; stall from 10 s to 20 s; seed 1".
[[nodiscard]] std::string describe(const model& asked);

/// Returns an aligned table with one column per strategy, and with units. It ends with a newline.
[[nodiscard]] std::string to_table(const comparison& compared);

/// Explains the figures in a few sentences without line breaks.
[[nodiscard]] std::string to_reading(const comparison& compared);

/// Returns everything as one JSON object: settings, totals, and series. `command` creates this
/// report again; it may be empty. There is no newline at the end.
[[nodiscard]] std::string to_json(const comparison& compared, std::string_view command);

/// Returns one line per strategy, service and step of time, with a heading.
[[nodiscard]] std::string to_csv(const comparison& compared);

/// Returns one self-contained HTML file, which needs neither a network nor other files: it contains
/// the charting library.
[[nodiscard]] std::string to_html(const comparison& compared, std::string_view command);

}  // namespace reprise::lab
