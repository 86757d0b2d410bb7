#pragma once

#include <string>
#include <string_view>

namespace reprise::base {

// RFC 3986's unreserved characters: letters, digits and `-._~`.
constexpr bool is_unreserved(char letter) noexcept {
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
           (letter >= '0' && letter <= '9') || letter == '-' || letter == '.' || letter == '_' ||
           letter == '~';
}

// Appends `text` with everything but unreserved characters as `%XX`: safe as one segment of a path
// and as a name or value of a query or a form.
inline void append_percent_encoded(std::string& out, std::string_view text) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    for (const char letter : text) {
        if (is_unreserved(letter)) {
            out += letter;
        } else {
            const auto byte = static_cast<unsigned char>(letter);
            out += '%';
            out += digits[byte >> 4];
            out += digits[byte & 15];
        }
    }
}

// The same as a new string.
inline std::string percent_encode(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    append_percent_encoded(out, text);
    return out;
}

}  // namespace reprise::base
