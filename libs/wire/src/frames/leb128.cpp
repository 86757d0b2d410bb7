#include <reprise/wire/leb128.hpp>

namespace reprise::wire {

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
