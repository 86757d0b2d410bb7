#pragma once

#include <cstddef>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include <reprise/wire/connection_string.hpp>

namespace reprise::wire::detail {

// Parses `name=value{&name=value}`. `position` is its offset in the connection string.
std::expected<connection_parameters, connection_string_error> read_parameters(
    std::string_view query, std::size_t position);

// Decodes percent escapes. Returns nothing if an escape is invalid or is a NUL (%00), which no name
// contains.
std::optional<std::string> decode_name(std::string_view text);

}  // namespace reprise::wire::detail
