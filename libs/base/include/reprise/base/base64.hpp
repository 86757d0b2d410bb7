#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace reprise::base {

// Standard base64 with padding (RFC 4648, section 4).
std::string encode_base64(std::string_view bytes);

// Strict: padding is required, white space and unused bits that are not zero are refused. Empty if
// the text is not base64.
std::optional<std::string> decode_base64(std::string_view text);

}  // namespace reprise::base
