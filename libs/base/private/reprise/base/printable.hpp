#pragma once

#include <cstddef>
#include <string>
#include <string_view>

// Makes foreign text safe for our own messages. A server may send anything, including what a
// terminal interprets as a command or a log reader as a separate line.

namespace reprise::base {

/// Escapes every control character (C0, DEL, C1), every invisible character that changes the order
/// or the lines of a text (U+202E, U+2028, ...) and every byte that is not UTF-8: \n, \r, \t, \x1b,
/// \u009b, \u202e. Everything else stays, even backslashes.
[[nodiscard]] std::string printable(std::string_view text);

/// The same for a whole page of text or JSON that may quote foreign text: newlines and tabs stay, a
/// carriage return becomes a space, and everything else is escaped as in JSON strings (\u001b), so
/// that JSON keeps its meaning.
[[nodiscard]] std::string printable_page(std::string_view page);

/// Returns the text if it has at most `size_max` bytes. Otherwise truncates it between two
/// characters and appends "... (123 more bytes)".
[[nodiscard]] std::string shortened(std::string_view text, std::size_t size_max);

}  // namespace reprise::base
