#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace reprise::base {

/// Encodes as standard base64 with padding (RFC 4648, section 4).
std::string encode_base64(std::string_view bytes);

/// Decodes strictly: padding is required, and white space and nonzero unused bits are rejected.
/// Returns nothing if the text is not base64.
std::optional<std::string> decode_base64(std::string_view text);

}  // namespace reprise::base
