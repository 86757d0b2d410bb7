#pragma once

/// The text of failures and decisions, as histories and logs write it.

#include <string>
#include <string_view>

#include <reprise/retry/history_entry.hpp>

namespace reprise::detail {

/// `text` as part of one line: at most `size_max` bytes, control characters replaced, the first
/// letter in lower case unless an abbreviation starts with it.
[[nodiscard]] std::string failure_line(std::string_view text, std::size_t size_max);

/// "1.5 ms"
[[nodiscard]] std::string milliseconds_text(duration time);

/// ", connection refused (111)"; either part may be empty.
void append_failure_text(std::string& out, std::string_view message, std::string_view code);

/// "; retried after 250 ms (budget 495)", "; not retried: ..." with the remedy if that is wanted.
void append_decision(std::string& out, const history_entry& entry, bool with_remedy);

}  // namespace reprise::detail
