#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

// opcode.hpp has enumerators called subdoc_path, which GCC reports as shadowing if it comes second.
#include <reprise/wire/opcode.hpp>
#include <reprise/wire/subdoc_path.hpp>

#include "subdoc/json_text.hpp"

namespace reprise::sandbox::detail {

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
path_match find_path(std::string_view document, const wire::subdoc_path& path);

}  // namespace reprise::sandbox::detail
