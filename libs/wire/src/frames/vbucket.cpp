#include <reprise/wire/vbucket.hpp>

#include <array>

#include <reprise/base/byte_reader.hpp>

namespace reprise::wire {

namespace {

// Tables for processing eight bytes per step: table[k][b] is the effect of byte b followed by k
// zero bytes.
constexpr auto make_crc32_tables() {
    std::array<std::array<std::uint32_t, 256>, 8> tables{};
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
        std::uint32_t crc = byte;
        for (int bit = 0; bit < 8; ++bit) {
            crc = (crc >> 1) ^ ((crc & 1u) != 0 ? 0xedb8'8320u : 0u);
        }
        tables[0][byte] = crc;
    }
    for (std::size_t table = 1; table < tables.size(); ++table) {
        for (std::size_t byte = 0; byte < 256; ++byte) {
            const std::uint32_t shorter = tables[table - 1][byte];
            tables[table][byte] = (shorter >> 8) ^ tables[0][shorter & 0xff];
        }
    }
    return tables;
}

constexpr auto crc32_tables = make_crc32_tables();

}  // namespace

std::uint32_t crc32(base::byte_view bytes) noexcept {
    using base::load_little_endian;
    const auto& tables = crc32_tables;
    const std::byte* at = bytes.data();
    const std::byte* const end = at + bytes.size();
    std::uint32_t crc = 0xffff'ffffu;
    for (; end - at >= 8; at += 8) {
        const std::uint32_t low = crc ^ load_little_endian<std::uint32_t>(at);
        const std::uint32_t high = load_little_endian<std::uint32_t>(at + 4);
        crc = tables[7][low & 0xff] ^ tables[6][(low >> 8) & 0xff] ^ tables[5][(low >> 16) & 0xff] ^
              tables[4][low >> 24] ^ tables[3][high & 0xff] ^ tables[2][(high >> 8) & 0xff] ^
              tables[1][(high >> 16) & 0xff] ^ tables[0][high >> 24];
    }
    if (end - at >= 4) {
        const std::uint32_t low = crc ^ load_little_endian<std::uint32_t>(at);
        crc = tables[3][low & 0xff] ^ tables[2][(low >> 8) & 0xff] ^ tables[1][(low >> 16) & 0xff] ^
              tables[0][low >> 24];
        at += 4;
    }
    for (; at != end; ++at) {
        crc = (crc >> 8) ^ tables[0][(crc ^ std::to_integer<std::uint32_t>(*at)) & 0xff];
    }
    return crc ^ 0xffff'ffffu;
}

}  // namespace reprise::wire
