#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace reprise::base {

/// Appends `text` and encodes every character as `%XX` except RFC 3986's unreserved ones (letters,
/// digits and `-._~`) and those in `kept`. If `kept` is empty, the result is safe as one segment of
/// a path and as a name or value of a query or form.
void append_percent_encoded(std::string& out, std::string_view text, std::string_view kept = {});

/// Returns the same as a new string.
std::string percent_encode(std::string_view text, std::string_view kept = {});

/// Decodes `%41` to `A`. The result may contain any byte, even NUL and slash. Returns nothing if a
/// `%` is not followed by two hexadecimal digits.
std::optional<std::string> percent_decode(std::string_view text);

/// The same, but leaves a `%` without two hexadecimal digits unchanged, as many servers do.
std::string percent_decode_leniently(std::string_view text);

}  // namespace reprise::base
