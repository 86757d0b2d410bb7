#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>

#include <reprise/base/bytes.hpp>
#include <reprise/wire/wire_error.hpp>

namespace reprise::wire {

/// Unsigned LEB128 of 32 bits: seven bits per byte, least significant first. The high bit is set in
/// all bytes but the last.
inline constexpr std::size_t leb128_size_max = 5;

/// Returns the size of the shortest form of `number`, 1 to 5 bytes.
inline std::size_t leb128_size(std::uint32_t number) noexcept {
    std::size_t size = 1;
    while (number >= 0x80) {
        number >>= 7;
        ++size;
    }
    return size;
}

/// Writes the shortest form; `out` must have room for `leb128_size(number)`. Returns the size.
[[gnu::always_inline]] inline std::size_t encode_leb128(
    std::byte* out, std::uint32_t number) noexcept {
    std::size_t size = 0;
    while (number >= 0x80) {
        out[size++] = static_cast<std::byte>((number & 0x7f) | 0x80);
        number >>= 7;
    }
    out[size++] = static_cast<std::byte>(number);
    return size;
}

struct leb128_number {
    std::uint32_t value = 0;
    std::size_t size = 0;  ///< bytes consumed
};

/// Decodes a number at the beginning of `bytes` and ignores what follows it. Accepts only the
/// shortest form. Fails with leb128_truncated, leb128_too_long or leb128_not_canonical.
std::expected<leb128_number, wire_errc> decode_leb128(base::byte_view bytes) noexcept;

}  // namespace reprise::wire
