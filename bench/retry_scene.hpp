#pragma once

#include <cstddef>
#include <string_view>

namespace bench {

/// The scenarios of the retry library: "success", "virtual_success", "decision", "refusal". False
/// for another name. In a unit of their own: how much of a loop GCC inlines depends on how large
/// the unit is that it is part of.
[[nodiscard]] bool run_retry(std::string_view name, std::size_t count);

}  // namespace bench
