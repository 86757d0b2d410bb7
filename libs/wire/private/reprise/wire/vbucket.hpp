#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <reprise/base/assert.hpp>
#include <reprise/base/bytes.hpp>
#include <reprise/wire/ids.hpp>

namespace reprise::wire {

/// CRC-32 of IEEE 802.3: reflected, with an initial value and a final XOR of all ones.
std::uint32_t crc32(base::byte_view bytes) noexcept;

/// The 15-bit hash that places a key: bits 16..30 of its CRC-32.
inline std::uint16_t key_hash(std::string_view key) noexcept {
    return static_cast<std::uint16_t>((crc32(base::as_bytes(key)) >> 16) & 0x7fff);
}

/// Returns the vbucket that holds `key` in a map of `vbucket_count` rows (1 to 65536). `key` is the
/// document key without its collection prefix, so documents of one name in two collections share a
/// vbucket.
inline vbucket_id vbucket_of(std::string_view key, std::size_t vbucket_count) noexcept {
    REPRISE_ASSERT(vbucket_count > 0);
    REPRISE_ASSERT(vbucket_count <= 65536);
    return vbucket_id{static_cast<std::uint16_t>(key_hash(key) % vbucket_count)};
}

}  // namespace reprise::wire
