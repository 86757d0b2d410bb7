#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>

#include <reprise/base/bytes.hpp>
#include <reprise/wire/wire_error.hpp>

namespace reprise::wire {

// Unsigned LEB128 of 32 bits: seven bits per byte, lowest first, high bit set on all but the last.
inline constexpr std::size_t leb128_size_max = 5;

// Bytes the shortest form of `number` takes, 1..5.
std::size_t leb128_size(std::uint32_t number) noexcept;

// Writes the shortest form; `out` must have room for `leb128_size(number)`. Returns the size.
std::size_t encode_leb128(std::byte* out, std::uint32_t number) noexcept;

struct leb128_number {
    std::uint32_t value = 0;
    std::size_t size = 0;  // bytes consumed
};

// Reads from the beginning of `bytes`; what follows the number is left alone. Only the shortest
// form is accepted. Errors: leb128_truncated, leb128_too_long, leb128_not_canonical.
std::expected<leb128_number, wire_errc> decode_leb128(base::byte_view bytes) noexcept;

}  // namespace reprise::wire
