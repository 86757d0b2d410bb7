#include <reprise/base/percent_encoding.hpp>

#include <cstddef>

#include <reprise/base/hex.hpp>

namespace reprise::base {
namespace {

constexpr bool is_unreserved(char letter) noexcept {
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
           (letter >= '0' && letter <= '9') || letter == '-' || letter == '.' || letter == '_' ||
           letter == '~';
}

// Returns the byte of the escape at the front of the text, or nothing if there is no escape.
std::optional<char> front_escape(std::string_view text) noexcept {
    if (text.size() < 3 || text[0] != '%') {
        return std::nullopt;
    }
    const std::optional<unsigned> high = parse_hex_digit(text[1]);
    const std::optional<unsigned> low = parse_hex_digit(text[2]);
    if (!high || !low) {
        return std::nullopt;
    }
    return static_cast<char>(*high * 16 + *low);
}

// Returns whether every `%` starts an escape.
bool append_decoded(std::string& out, std::string_view text) {
    bool is_valid = true;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (const std::optional<char> byte = front_escape(text.substr(at))) {
            out += *byte;
            at += 2;
            continue;
        }
        is_valid = is_valid && text[at] != '%';
        out += text[at];
    }
    return is_valid;
}

}  // namespace

void append_percent_encoded(std::string& out, std::string_view text, std::string_view kept) {
    for (const char letter : text) {
        if (is_unreserved(letter) || kept.find(letter) != std::string_view::npos) {
            out += letter;
        } else {
            out += '%';
            append_hex(out, static_cast<unsigned char>(letter), 2, hex_case::upper);
        }
    }
}

std::string percent_encode(std::string_view text, std::string_view kept) {
    std::string out;
    out.reserve(text.size());
    append_percent_encoded(out, text, kept);
    return out;
}

std::optional<std::string> percent_decode(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    if (!append_decoded(out, text)) {
        return std::nullopt;
    }
    return out;
}

std::string percent_decode_leniently(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    append_decoded(out, text);
    return out;
}

}  // namespace reprise::base
