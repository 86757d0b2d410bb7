#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace reprise::base {

// Appends `text` with everything as `%XX` but RFC 3986's unreserved characters (letters, digits and
// `-._~`) and those in `kept`. With nothing in `kept` the result is safe as one segment of a path
// and as a name or value of a query or a form.
void append_percent_encoded(std::string& out, std::string_view text, std::string_view kept = {});

// The same as a new string.
std::string percent_encode(std::string_view text, std::string_view kept = {});

// `%41` becomes `A`; the result may hold any byte, NUL and slash included. Empty if a `%` is not
// followed by two hexadecimal digits.
std::optional<std::string> percent_decode(std::string_view text);

// The same, but a `%` without two hexadecimal digits stays as it is, as many servers read it.
std::string percent_decode_leniently(std::string_view text);

}  // namespace reprise::base
