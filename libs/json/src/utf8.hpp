#pragma once

#include <cstddef>
#include <string_view>

namespace reprise::json::detail {

// Returns the size of the valid UTF-8 sequence at the front of `text`, or 0 if there is none.
std::size_t utf8_sequence_size(std::string_view text) noexcept;

}  // namespace reprise::json::detail
