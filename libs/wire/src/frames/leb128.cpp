#include <reprise/wire/leb128.hpp>

namespace reprise::wire {

std::size_t leb128_size(std::uint32_t number) noexcept {
    std::size_t size = 1;
    while (number >= 0x80) {
        number >>= 7;
        ++size;
    }
    return size;
}

std::size_t encode_leb128(std::byte* out, std::uint32_t number) noexcept {
    std::size_t size = 0;
    while (number >= 0x80) {
        out[size++] = static_cast<std::byte>((number & 0x7f) | 0x80);
        number >>= 7;
    }
    out[size++] = static_cast<std::byte>(number);
    return size;
}

std::expected<leb128_number, wire_errc> decode_leb128(base::byte_view bytes) noexcept {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < leb128_size_max; ++i) {
        if (i == bytes.size()) {
            return std::unexpected(wire_errc::leb128_truncated);
        }
        const auto byte = std::to_integer<std::uint64_t>(bytes[i]);
        value |= (byte & 0x7f) << (7 * i);
        if ((byte & 0x80) != 0) {
            continue;
        }
        if (value > 0xffff'ffffu) {
            return std::unexpected(wire_errc::leb128_too_long);
        }
        // A last byte of zero adds nothing, so a shorter form exists.
        if (byte == 0 && i > 0) {
            return std::unexpected(wire_errc::leb128_not_canonical);
        }
        return leb128_number{static_cast<std::uint32_t>(value), i + 1};
    }
    return std::unexpected(wire_errc::leb128_too_long);
}

}  // namespace reprise::wire
