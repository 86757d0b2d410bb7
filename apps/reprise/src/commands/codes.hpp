#pragma once

/// Codes and names of errors as users type them.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace reprise::app {

/// Parses "0x86" or "134": hexadecimal with the prefix, otherwise decimal. Empty if it is neither.
[[nodiscard]] std::optional<std::uint16_t> parse_status_code(std::string_view text) noexcept;

/// `text` as wrapped lines below a heading: each begins with four spaces and ends in a newline.
[[nodiscard]] std::string indented(std::string_view text);

/// Lower case without underscores and dashes: "KV_LOCKED", "kv-locked" and "KvLocked" are equal.
[[nodiscard]] std::string plain_name(std::string_view text);

}  // namespace reprise::app
