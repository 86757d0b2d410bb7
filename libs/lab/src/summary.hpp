#pragma once

/// The figures of every report, in one order and with the same labels.

#include <string>
#include <vector>

#include <reprise/lab/scenario.hpp>

namespace reprise::lab {

/// One line of the table: a figure and its value for each strategy.
struct summary_row {
    std::string label;
    std::vector<std::string> cells;
};

[[nodiscard]] std::vector<summary_row> summarise(const comparison& compared);

/// "6.1 s", "immediate", "never", or why there is no such time.
[[nodiscard]] std::string recovery_text(const recovery& found);

/// How long a run continues after its trouble.
[[nodiscard]] duration observed_after(const model& asked);

/// The time that a service needs for `waiting` attempts; zero without a capacity.
[[nodiscard]] duration drain_time(const service_options& service, double waiting);

/// "21 ms", "1.5 s"; "-" if absent.
[[nodiscard]] std::string latency_text(const std::optional<duration>& latency);

/// The step of the series in reports: 1 s, or 100 ms for short runs.
[[nodiscard]] duration series_step(const model& asked);

}  // namespace reprise::lab
