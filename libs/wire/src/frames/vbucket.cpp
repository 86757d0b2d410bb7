#include <reprise/wire/vbucket.hpp>

#include <array>

#include <reprise/base/assert.hpp>

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
    const auto at = [&bytes](std::size_t i) { return std::to_integer<std::uint32_t>(bytes[i]); };
    std::uint32_t crc = 0xffff'ffffu;
    while (bytes.size() >= 8) {
        const std::uint32_t low = crc ^ (at(0) | at(1) << 8 | at(2) << 16 | at(3) << 24);
        crc = crc32_tables[7][low & 0xff] ^ crc32_tables[6][(low >> 8) & 0xff] ^
              crc32_tables[5][(low >> 16) & 0xff] ^ crc32_tables[4][low >> 24] ^
              crc32_tables[3][at(4)] ^ crc32_tables[2][at(5)] ^ crc32_tables[1][at(6)] ^
              crc32_tables[0][at(7)];
        bytes = bytes.subspan(8);
    }
    for (const std::byte byte : bytes) {
        crc = (crc >> 8) ^ crc32_tables[0][(crc ^ std::to_integer<std::uint32_t>(byte)) & 0xff];
    }
    return crc ^ 0xffff'ffffu;
}

std::uint16_t key_hash(std::string_view key) noexcept {
    return static_cast<std::uint16_t>((crc32(base::as_bytes(key)) >> 16) & 0x7fff);
}

vbucket_id vbucket_of(std::string_view key, std::size_t vbucket_count) noexcept {
    REPRISE_ASSERT(vbucket_count > 0);
    REPRISE_ASSERT(vbucket_count <= 65536);
    return vbucket_id{static_cast<std::uint16_t>(key_hash(key) % vbucket_count)};
}

}  // namespace reprise::wire
