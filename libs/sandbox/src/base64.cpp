#include "base64.hpp"

#include <algorithm>
#include <cstdint>

namespace reprise::sandbox::detail {

namespace {

constexpr std::string_view base64_digits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::string to_base64(std::string_view bytes) {
    std::string out;
    for (std::size_t at = 0; at < bytes.size(); at += 3) {
        std::uint32_t bits = 0;
        const std::size_t count = std::min<std::size_t>(3, bytes.size() - at);
        for (std::size_t i = 0; i < 3; ++i) {
            const auto byte = i < count ? static_cast<unsigned char>(bytes[at + i]) : 0u;
            bits = (bits << 8) | byte;
        }
        for (std::size_t i = 0; i < 4; ++i) {
            out += i <= count ? base64_digits[(bits >> (18 - 6 * i)) & 0x3f] : '=';
        }
    }
    return out;
}

std::optional<std::string> from_base64(std::string_view text) {
    std::string out;
    std::uint32_t bits = 0;
    std::uint32_t bit_count = 0;
    for (const char c : text.substr(0, text.find('='))) {
        const std::size_t digit = base64_digits.find(c);
        if (digit == std::string_view::npos) {
            return std::nullopt;
        }
        bits = ((bits << 6) | static_cast<std::uint32_t>(digit)) & 0xffff;
        bit_count += 6;
        if (bit_count >= 8) {
            bit_count -= 8;
            out += static_cast<char>((bits >> bit_count) & 0xff);
        }
    }
    return out;
}

}  // namespace reprise::sandbox::detail
