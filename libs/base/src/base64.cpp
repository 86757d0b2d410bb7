#include <reprise/base/base64.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace reprise::base {
namespace {

constexpr std::string_view base64_alphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::string encode_base64(std::string_view bytes) {
    std::string out;
    out.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t index = 0; index < bytes.size(); index += 3) {
        const std::size_t count = std::min<std::size_t>(3, bytes.size() - index);
        std::uint32_t group = 0;
        for (std::size_t each = 0; each < 3; ++each) {
            group = (group << 8U) |
                    (each < count ? static_cast<unsigned char>(bytes[index + each]) : 0U);
        }
        for (std::size_t each = 0; each < 4; ++each) {
            out += each <= count ? base64_alphabet[(group >> (18U - 6U * each)) & 0x3fU] : '=';
        }
    }
    return out;
}

std::optional<std::string> decode_base64(std::string_view text) {
    if (text.size() % 4 != 0) {
        return std::nullopt;
    }
    std::string out;
    out.reserve(text.size() / 4 * 3);
    for (std::size_t index = 0; index < text.size(); index += 4) {
        const bool is_last = index + 4 == text.size();
        std::size_t padding = 0;
        if (is_last && text[index + 3] == '=') {
            padding = text[index + 2] == '=' ? 2 : 1;
        }
        std::uint32_t group = 0;
        for (std::size_t each = 0; each < 4; ++each) {
            const std::size_t digit =
                each + padding >= 4 ? 0 : base64_alphabet.find(text[index + each]);
            if (digit == std::string_view::npos) {
                return std::nullopt;
            }
            group = (group << 6U) | static_cast<std::uint32_t>(digit);
        }
        // Unused bits must be zero; otherwise two texts would decode to the same bytes.
        if ((padding == 1 && (group & 0xffU) != 0) || (padding == 2 && (group & 0xffffU) != 0)) {
            return std::nullopt;
        }
        for (std::size_t each = 0; each < 3 - padding; ++each) {
            out += static_cast<char>((group >> (16U - 8U * each)) & 0xffU);
        }
    }
    return out;
}

}  // namespace reprise::base
