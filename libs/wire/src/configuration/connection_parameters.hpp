#pragma once

#include <cstddef>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include <reprise/wire/connection_string.hpp>

namespace reprise::wire::detail {

// Reads `name=value{&name=value}`; `position` is where it begins in the connection string.
std::expected<connection_parameters, connection_string_error> read_parameters(
    std::string_view query, std::size_t position);

// Percent-decoded. Empty if an escape is not valid, or is a NUL (%00), which no name has.
std::optional<std::string> decode_name(std::string_view text);

}  // namespace reprise::wire::detail
