#pragma once

#include <cstddef>
#include <string_view>

namespace reprise::wire::detail {

// Returns at most the first `size_max` bytes of `text`, without splitting a UTF-8 sequence.
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
