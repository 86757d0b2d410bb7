#pragma once

/// The figures every report shows, in one order and one wording.

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

/// Of the requests offered before the outage, the share not given up. Without an outage: of all.
[[nodiscard]] double success_before(const storm_options& options, const storm_result& result);

/// The last ten seconds of the run (or what there is of it) as one slot.
[[nodiscard]] slot final_seconds(const storm_result& result);

/// "6.1 s", "at once", "never (70 s watched)", "-" or why the question has no answer.
[[nodiscard]] std::string recovery_text(const storm_options& options, const recovery& found);

}  // namespace reprise::lab
