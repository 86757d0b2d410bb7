#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include <reprise/base/byte_reader.hpp>
#include <reprise/wire/frame.hpp>

namespace reprise::wire::detail {

// Properties of byte 0 of a frame for the reader of a stream, one bit each.
enum magic_trait : std::uint8_t {
    from_client = 1,
    from_server = 2,
    with_framing_extras = 4,
};

consteval std::array<std::uint8_t, 256> make_magic_traits() {
    std::array<std::uint8_t, 256> traits{};
    for (unsigned byte = 0; byte < traits.size(); ++byte) {
        if (const auto known = magic_from_byte(static_cast<std::uint8_t>(byte))) {
            traits[byte] = static_cast<std::uint8_t>(
                (is_sent_by_server(*known) ? from_server : from_client) |
                (has_framing_extras(*known) ? with_framing_extras : 0));
        }
    }
    return traits;
}

inline constexpr auto magic_traits = make_magic_traits();

constexpr unsigned traits_expected(frame_direction direction) noexcept {
    switch (direction) {
        case frame_direction::to_client:
            return from_server;
        case frame_direction::to_server:
            return from_client;
        case frame_direction::any:
            break;
    }
    return from_client | from_server;
}

// decode_header, from 24 bytes into a header that already exists. Inline because each answer passes
// here.
inline std::optional<wire_errc> read_header(
    const std::byte* at, const frame_limits& limits, frame_header& header) noexcept {
    using base::load_big_endian;
    const auto first = load_big_endian<std::uint8_t>(at);
    const unsigned traits = magic_traits[first];
    if ((traits & traits_expected(limits.direction)) == 0) {
        return traits == 0 ? wire_errc::unknown_magic : wire_errc::unexpected_magic;
    }
    header.magic = static_cast<wire::magic>(first);
    header.op = static_cast<opcode>(at[1]);
    const bool has_extras = (traits & with_framing_extras) != 0;
    header.framing_extras_size = has_extras ? load_big_endian<std::uint8_t>(at + 2) : 0;
    header.key_size =
        has_extras ? load_big_endian<std::uint8_t>(at + 3) : load_big_endian<std::uint16_t>(at + 2);
    header.extras_size = load_big_endian<std::uint8_t>(at + 4);
    header.datatype = static_cast<datatype>(at[5]);
    header.vbucket_or_status = load_big_endian<std::uint16_t>(at + 6);
    header.body_size = load_big_endian<std::uint32_t>(at + 8);
    header.opaque = load_big_endian<std::uint32_t>(at + 12);
    header.cas = load_big_endian<std::uint64_t>(at + 16);
    if (header.body_size > limits.body_size_max_bytes) {
        return wire_errc::frame_too_large;
    }
    if (header.value_offset() > header.body_size) {
        return wire_errc::lengths_exceed_body;
    }
    return std::nullopt;
}

}  // namespace reprise::wire::detail
