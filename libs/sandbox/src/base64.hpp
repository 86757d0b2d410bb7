#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace reprise::sandbox::detail {

// Base64 with padding (RFC 4648).
std::string to_base64(std::string_view bytes);
// Empty if a character does not belong there; what follows the first `=` is not looked at.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace reprise::sandbox::detail
