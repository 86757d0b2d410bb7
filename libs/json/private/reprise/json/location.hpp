#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace reprise::json {

/// Finds the value at `path` in a text that `parse` accepts (with comments or without) and returns
/// the offset of its first byte; for a member of an object, that of its name. Array indexes are
/// decimal numbers. If the path leads to nothing, returns the offset of the last value on it. Any
/// other text gives some offset within it.
std::size_t find_offset(std::string_view text, std::span<const std::string> path);

/// Both start at 1; columns are counted in bytes.
struct text_position {
    std::size_t line = 1;
    std::size_t column = 1;
};

/// Where an offset is, for messages. An offset past the end is taken as the end.
text_position position_at(std::string_view text, std::size_t offset) noexcept;

}  // namespace reprise::json
