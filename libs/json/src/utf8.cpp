#include "utf8.hpp"

#include <reprise/json/parse.hpp>

namespace reprise::json {

namespace detail {

// Table 3-7 of the Unicode standard: the range of the second byte depends on the first, which
// excludes overlong forms, surrogates and code points above U+10FFFF.
std::size_t utf8_sequence_size(std::string_view text) noexcept {
    const auto byte = [&](std::size_t index) {
        return index < text.size() ? static_cast<unsigned char>(text[index]) : 0U;
    };
    const auto is_continuation = [&](std::size_t index) { return (byte(index) & 0xc0U) == 0x80U; };
    const unsigned first = byte(0);
    if (first < 0x80) {
        return text.empty() ? 0 : 1;
    }
    unsigned low = 0x80;
    unsigned high = 0xbf;
    std::size_t size = 0;
    if (first >= 0xc2 && first <= 0xdf) {
        size = 2;
    } else if (first >= 0xe0 && first <= 0xef) {
        size = 3;
        low = first == 0xe0 ? 0xa0 : low;
        high = first == 0xed ? 0x9f : high;
    } else if (first >= 0xf0 && first <= 0xf4) {
        size = 4;
        low = first == 0xf0 ? 0x90 : low;
        high = first == 0xf4 ? 0x8f : high;
    } else {
        return 0;
    }
    if (byte(1) < low || byte(1) > high) {
        return 0;
    }
    for (std::size_t index = 2; index < size; ++index) {
        if (!is_continuation(index)) {
            return 0;
        }
    }
    return size;
}

}  // namespace detail

bool is_valid_utf8(std::string_view text, std::size_t* offset) noexcept {
    std::size_t position = 0;
    while (position < text.size()) {
        const std::size_t size = detail::utf8_sequence_size(text.substr(position));
        if (size == 0) {
            if (offset != nullptr) {
                *offset = position;
            }
            return false;
        }
        position += size;
    }
    return true;
}

}  // namespace reprise::json
