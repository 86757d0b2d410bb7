#pragma once

#include <span>
#include <string_view>

namespace reprise::base {

/// Returns the candidate with the smallest edit distance to `word` if it is close enough to be a
/// typo, which means that at most a third of its letters differ. Otherwise returns an empty view.
std::string_view closest_name(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace reprise::base
