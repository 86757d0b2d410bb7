#pragma once

/// The interactive page of `reprise lab serve`, and what its buttons copy.

#include <expected>
#include <span>
#include <string>
#include <string_view>

#include <reprise/lab/scenario.hpp>

namespace reprise::lab {

/// Returns the page. `own_scenario` is the text to start with; empty: the gallery's first. The page
/// posts scenarios to `/run` and expects `to_json` of the comparison in the answer's `report`.
[[nodiscard]] std::string to_live_page(std::string_view own_scenario);

/// C++ code that makes the same settings with the retry library. Parts that a strategy does not
/// contain (timeouts, breakers, hedging) are comments.
[[nodiscard]] std::string to_cpp(const retry_options& retries);

/// A scenario's text with overrides applied, as JSON without comments.
[[nodiscard]] std::expected<std::string, scenario_error> apply_overrides(
    std::string_view text, std::span<const scenario_override> overrides);

}  // namespace reprise::lab
