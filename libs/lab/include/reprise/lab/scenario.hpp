#pragma once

/// The storm models of the lab, by name.

#include <span>
#include <string_view>

#include <reprise/lab/storm_options.hpp>

namespace reprise::lab {

/// A model and what it demonstrates. All text lives as long as the program.
struct scenario {
    std::string_view name;     ///< As typed on the command line.
    std::string_view title;    ///< One line.
    std::string_view summary;  ///< Two or three sentences: what happens, what to look at.
    storm_options options;     ///< You may change them before the run.
};

/// All scenarios, in the order in which to read them: `outage`, `metastable`, `hedging`.
[[nodiscard]] std::span<const scenario> scenarios();

/// Returns null if there is no scenario with that name.
[[nodiscard]] const scenario* find_scenario(std::string_view name);

}  // namespace reprise::lab
