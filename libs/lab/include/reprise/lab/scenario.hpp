#pragma once

/// The storm models that come with the lab, by name.

#include <span>
#include <string_view>

#include <reprise/lab/storm_options.hpp>

namespace reprise::lab {

/// A model and what it is meant to show. All text lives as long as the program.
struct scenario {
    std::string_view name;     ///< As typed on the command line.
    std::string_view title;    ///< One line.
    std::string_view summary;  ///< Two or three sentences: what happens, what to look at.
    storm_options options;     ///< Change what you like before running it.
};

/// All of them, in the order in which to meet them: `outage`, `metastable`.
[[nodiscard]] std::span<const scenario> scenarios();

/// Null when there is none of that name.
[[nodiscard]] const scenario* find_scenario(std::string_view name);

}  // namespace reprise::lab
