#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace reprise::sandbox::detail {

// Small encodings of HTTP requests. They never fail: bytes that are not a valid escape stay
// unchanged.

struct form_fields {
    std::vector<std::pair<std::string, std::string>> fields;
    // Empty if there is no such field.
    std::string_view find(std::string_view name) const noexcept;
};
// "a=1&b=x%20y+z"
form_fields parse_form(std::string_view body);

std::optional<std::int32_t> parse_int32(std::string_view text) noexcept;

// The parts of the path between slashes, decoded, without the query.
std::vector<std::string> target_parts(std::string_view target);

}  // namespace reprise::sandbox::detail
