#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <reprise/http/http_error.hpp>

namespace reprise::http {

// A request target cut at its first `?`; both parts still percent-encoded. Views into the target.
struct target_view {
    std::string_view path;
    std::string_view query;  // empty if there is none
};

target_view split_target(std::string_view target) noexcept;

// `%41` becomes `A`; the result may hold any byte, NUL and slash included. Error:
// percent_encoding_invalid.
std::expected<std::string, http_errc> percent_decode(std::string_view text);

// Everything but letters, digits and `-._~` is escaped: safe as one segment of a path and as a
// name or value of a query.
std::string percent_encode(std::string_view text);

// "a=1&b&c=x+y" as names and values, decoded, in order; `+` is a blank. Also reads form bodies. A
// name without `=` has an empty value; empty pieces are left out. Error: percent_encoding_invalid.
std::expected<std::vector<std::pair<std::string, std::string>>, http_errc> parse_query(
    std::string_view query);

}  // namespace reprise::http
