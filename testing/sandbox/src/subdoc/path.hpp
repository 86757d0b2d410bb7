#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/wire/status.hpp>

#include "subdoc/json_text.hpp"

namespace reprise::sandbox::detail {

// The largest number of path components, and the deepest document that sub-document operations
// accept.
inline constexpr std::size_t subdoc_depth_max = 32;

// One step into a document.
struct path_component {
    bool is_index = false;
    std::int64_t index = 0;  // -1: the last element
    std::string name;
};

using subdoc_path = std::vector<path_component>;

// Parses "a.b[2].`x.y`". An empty text results in an empty path (the document itself). Errors:
// subdoc_path_einval for a syntax error, subdoc_path_e2big for too many components.
std::expected<subdoc_path, wire::status> parse_subdoc_path(std::string_view text);

// Where a path leads in a document.
struct path_match {
    enum class outcome : std::uint8_t {
        found,
        missing,  // everything before component `matched` exists
        mismatch  // a component does not fit the type of the value it meets
    };
    outcome result = outcome::missing;
    // The number of components that exist.
    std::size_t matched = 0;
    // If found: the value, and the item that contains it (not for an empty path).
    text_range value;
    json_item item;
    // The container of component `matched` (or of the last one).
    text_range parent;
};

// `document` must be JSON.
path_match find_path(std::string_view document, const subdoc_path& path);

}  // namespace reprise::sandbox::detail
