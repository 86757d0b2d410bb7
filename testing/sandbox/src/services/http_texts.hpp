#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace reprise::sandbox::detail {

// The little encodings of HTTP requests. None fails loudly: bytes that are no legal escape stay.

struct form_fields {
    std::vector<std::pair<std::string, std::string>> fields;
    // Empty if it is not there.
    std::string_view find(std::string_view name) const noexcept;
};
// "a=1&b=x%20y+z"
form_fields parse_form(std::string_view body);

std::optional<std::int32_t> parse_int32(std::string_view text) noexcept;

// The path's parts between slashes, decoded; what follows a question mark is left out.
std::vector<std::string> target_parts(std::string_view target);

}  // namespace reprise::sandbox::detail
