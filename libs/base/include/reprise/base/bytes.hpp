#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace reprise::base {

// Bytes somebody else owns; valid as long as the owner says. Never extends a lifetime.
using byte_view = std::span<const std::byte>;
using mutable_byte_view = std::span<std::byte>;

// The same memory seen as bytes or as text. No check of the content: text from a network may hold
// any byte, zero included.
inline byte_view as_bytes(std::string_view text) noexcept {
    return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

inline std::string_view as_text(byte_view bytes) noexcept {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Byte-wise equality; two empty views are equal wherever they point.
inline bool equal(byte_view left, byte_view right) noexcept {
    return as_text(left) == as_text(right);
}

}  // namespace reprise::base
