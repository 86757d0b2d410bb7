#pragma once

#include <cstddef>
#include <string>
#include <string_view>

// Makes foreign text safe for our own messages. A server may send anything, including what a
// terminal interprets as a command or a log reader as a separate line.

namespace reprise::base {

/// Escapes every control character (C0, DEL, C1) and every byte that is not UTF-8:
/// , \r, \t, \x1b, \u009b. Everything else stays, even backslashes.
[[nodiscard]] std::string printable(std::string_view text);

/// Returns the text if it has at most `size_max` bytes. Otherwise truncates it between two
/// characters and appends "... (123 more bytes)".
[[nodiscard]] std::string shortened(std::string_view text, std::size_t size_max);

}  // namespace reprise::base
