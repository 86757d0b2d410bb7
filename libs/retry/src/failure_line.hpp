#pragma once

/// The text of failures and decisions, as histories and logs write it.

#include <cstdint>
#include <string>
#include <string_view>

#include <reprise/retry/retry_history.hpp>

namespace reprise::detail {

/// `text`, or nothing if there is no memory for it: what must not throw reports without a text
/// then.
[[nodiscard]] std::string text_or_empty(const char* text) noexcept;

/// `text` with its control characters replaced: what comes from outside begins no line of its own.
[[nodiscard]] std::string one_line(std::string_view text);

/// `text` as part of one line: at most `size_max` bytes and no part of a UTF-8 character, control
/// characters replaced, the first letter in lower case unless an abbreviation starts with it.
[[nodiscard]] std::string failure_line(std::string_view text, std::size_t size_max);

/// The value of a code as its category has it, which may be negative; a plain number without one.
[[nodiscard]] std::string code_text(std::uint32_t code, bool has_category);

/// `value` by one conversion of `printf`, with a point in every locale: "%.6g".
[[nodiscard]] std::string number_text(const char* format, double value);

/// "1.5 ms"
[[nodiscard]] std::string milliseconds_text(duration time);

/// ", connection refused (111)"; either part may be empty.
void append_failure_text(std::string& out, std::string_view message, std::string_view code);

/// "; retried after 250 ms (budget 495)", "; not retried: ..." with the remedy if that is wanted.
void append_decision(std::string& out, const retry_history::entry& entry, bool with_remedy);

}  // namespace reprise::detail
