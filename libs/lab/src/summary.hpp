#pragma once

/// The figures of every report, in one order and with the same labels.

#include <array>
#include <string>
#include <vector>

#include <reprise/lab/storm.hpp>

namespace reprise::lab {

/// One line of the table: a figure and its value under each policy.
struct summary_row {
    std::string label;
    std::array<std::string, policies.size()> cells;
};

[[nodiscard]] std::vector<summary_row> summarise(const comparison& compared);

/// The share of the requests offered before the outage that succeeded or are still running. Without
/// an outage, of all requests.
[[nodiscard]] double success_before(const storm_options& options, const storm_result& result);

/// The last ten seconds of the run, or all of a shorter run, as one slot.
[[nodiscard]] slot final_seconds(const storm_result& result);

/// Returns "6.1 s", "immediate", "never (70 s observed)", "-", or why there is no such time.
[[nodiscard]] std::string recovery_text(const storm_options& options, const recovery& found);

}  // namespace reprise::lab
