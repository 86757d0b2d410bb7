#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/wire/status.hpp>

// The text of sub-document paths: "a.b[2].`x.y`".

namespace reprise::wire {

// The largest number of path components, and the deepest document that sub-document operations
// accept.
inline constexpr std::size_t subdoc_depth_max = 32;

// One step into a document.
struct path_component {
    bool is_index = false;
    std::int64_t index = 0;  // -1: the last element
    std::string name;

    friend bool operator==(const path_component&, const path_component&) = default;
};

using subdoc_path = std::vector<path_component>;

// An empty text results in an empty path (the document itself). Errors: subdoc_path_einval for a
// syntax error, subdoc_path_e2big for too many components.
[[nodiscard]] std::expected<subdoc_path, status> parse_subdoc_path(std::string_view text);

}  // namespace reprise::wire
