#pragma once

#include <expected>
#include <string>
#include <string_view>

#include <reprise/wire/opcode.hpp>
#include <reprise/wire/status.hpp>

namespace reprise::sandbox::detail {

// What one sub-document operation did to a JSON text.
struct edit_result {
    std::string document;  // the new text
    std::string answer;    // the counter's new value, otherwise empty
};

struct edit_request {
    wire::opcode op{};
    std::string_view path;
    std::string_view value;
    bool creates_parents = false;
};

// Reads a path of a JSON text: get, exists (empty answer), get_count. Errors are path statuses.
std::expected<std::string, wire::status> lookup_path(
    std::string_view document, wire::opcode op, std::string_view path);

// Changes a path of a JSON text. Nothing outside the path changes a byte. Errors are path statuses
// (0xc0..0xca).
std::expected<edit_result, wire::status> edit_path(
    std::string_view document, const edit_request& request);

// The document a mutation with this path starts from when there is none: an array for a path that
// begins with an index or is empty, otherwise an object.
std::string_view empty_document_for(std::string_view path) noexcept;

}  // namespace reprise::sandbox::detail
