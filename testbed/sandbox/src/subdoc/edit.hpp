#pragma once

#include <expected>
#include <string>
#include <string_view>

#include <reprise/wire/opcode.hpp>
#include <reprise/wire/status.hpp>

namespace reprise::sandbox::detail {

// The result of one sub-document operation on a JSON text.
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

// Reads a path of a JSON text: get, exists (returns an empty text), get_count. Errors are path
// statuses.
std::expected<std::string, wire::status> lookup_path(
    std::string_view document, wire::opcode op, std::string_view path);

// Changes a path of a JSON text. Bytes outside the path do not change. Errors are path statuses
// (0xc0..0xca).
std::expected<edit_result, wire::status> edit_path(
    std::string_view document, const edit_request& request);

// The document that a mutation with this path starts from if there is none: an array if the path is
// empty or begins with an index, otherwise an object.
std::string_view empty_document_for(std::string_view path) noexcept;

}  // namespace reprise::sandbox::detail
