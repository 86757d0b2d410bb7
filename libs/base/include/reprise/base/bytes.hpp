#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string_view>

namespace reprise::base {

/// Bytes owned elsewhere. A view never extends their lifetime.
using byte_view = std::span<const std::byte>;
using mutable_byte_view = std::span<std::byte>;

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

/// Whether `part` lies in the memory of `whole`, whatever objects they belong to.
inline bool lies_within(byte_view part, byte_view whole) noexcept {
    const std::less_equal<const std::byte*> is_upto;  // also orders pointers to different objects
    return is_upto(whole.data(), part.data()) &&
           is_upto(part.data() + part.size(), whole.data() + whole.size());
}

}  // namespace reprise::base
