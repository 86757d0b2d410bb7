#pragma once

#include <cstddef>
#include <string>
#include <string_view>

// Texts of others in messages of ours. What a server sends may hold anything, also what a terminal
// or a reader of logs takes for a command or for a line of its own.

namespace reprise::base {

// The text with every control character (C0, DEL, C1) and every byte that is not UTF-8 written out:
// \n, \r, \t, \x1b, \u009b. Everything else, backslashes included, stays.
[[nodiscard]] std::string printable(std::string_view text);

// The text itself up to `size_max` bytes; a longer one is cut between two characters and ends with
// "... (123 more bytes)".
[[nodiscard]] std::string shortened(std::string_view text, std::size_t size_max);

}  // namespace reprise::base
