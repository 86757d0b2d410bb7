#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace reprise::wire::detail {

// 1..16 hex digits of either case and nothing else (no sign, no 0x).
inline std::optional<std::uint64_t> parse_hex(std::string_view text) noexcept {
    std::uint64_t number = 0;
    const char* end = text.data() + text.size();
    const auto [stop, ec] = std::from_chars(text.data(), end, number, 16);
    if (ec != std::errc{} || stop != end || text.size() > 16) {
        return std::nullopt;
    }
    return number;
}

// Upper-case hex, padded with zeros to `digits`.
inline std::string format_hex(std::uint64_t number, std::size_t digits) {
    constexpr std::string_view alphabet = "0123456789ABCDEF";
    std::string text(digits, '0');
    for (std::size_t i = digits; i > 0; --i) {
        text[i - 1] = alphabet[number & 0x0f];
        number >>= 4;
    }
    return text;
}

// At most `size_max` bytes of `text`, not cutting a UTF-8 sequence in two.
inline std::string_view cut_utf8(std::string_view text, std::size_t size_max) noexcept {
    if (text.size() <= size_max) {
        return text;
    }
    std::size_t size = size_max;
    while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xc0) == 0x80) {
        --size;
    }
    return text.substr(0, size);
}

}  // namespace reprise::wire::detail
