#pragma once

#include <cstddef>
#include <cstring>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

namespace reprise::base {

/// Bytes owned elsewhere. A view never extends their lifetime.
using byte_view = std::span<const std::byte>;
using mutable_byte_view = std::span<std::byte>;
/// Bytes in several places, in order.
using byte_views = std::span<const byte_view>;

/// Views the same memory as bytes or as text, without checking the content. Text from a network may
/// contain any byte, even zero.
inline byte_view as_bytes(std::string_view text) noexcept {
    return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

inline std::string_view as_text(byte_view bytes) noexcept {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Compares bytes. Two empty views are equal wherever they point.
inline bool equal(byte_view left, byte_view right) noexcept {
    return as_text(left) == as_text(right);
}

inline std::size_t total_size(byte_views parts) noexcept {
    std::size_t size = 0;
    for (const byte_view each : parts) {
        size += each.size();
    }
    return size;
}

/// Copies all parts into one place.
inline std::vector<std::byte> join(byte_views parts) {
    std::vector<std::byte> joined;
    joined.reserve(total_size(parts));
    for (const byte_view each : parts) {
        joined.insert(joined.end(), each.begin(), each.end());
    }
    return joined;
}

/// Copies the bytes, which must not overlap. Cheaper than a call of memcpy for the few bytes of a
/// key or a small value: two blocks of one size cover all of them.
[[gnu::always_inline]] inline void copy_few(std::byte* to, byte_view from) noexcept {
    const std::byte* const at = from.data();
    const std::size_t size = from.size();
    if (size > 32) {
        std::memcpy(to, at, size);
    } else if (size >= 16) {
        std::memcpy(to, at, 16);
        std::memcpy(to + size - 16, at + size - 16, 16);
    } else if (size >= 8) {
        std::memcpy(to, at, 8);
        std::memcpy(to + size - 8, at + size - 8, 8);
    } else if (size >= 4) {
        std::memcpy(to, at, 4);
        std::memcpy(to + size - 4, at + size - 4, 4);
    } else {
        for (std::size_t each = 0; each < size; ++each) {
            to[each] = at[each];
        }
    }
}

/// Whether `part` lies in the memory of `whole`, whatever objects they belong to.
inline bool lies_within(byte_view part, byte_view whole) noexcept {
    const std::less_equal<const std::byte*> is_upto;  // also orders pointers to different objects
    return is_upto(whole.data(), part.data()) &&
           is_upto(part.data() + part.size(), whole.data() + whole.size());
}

}  // namespace reprise::base
