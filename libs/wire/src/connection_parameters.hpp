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

// Empty if an escape is cut short, no hexadecimal, or %00.
std::optional<std::string> percent_decoded(std::string_view text);

}  // namespace reprise::wire::detail
