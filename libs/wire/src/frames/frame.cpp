#include <reprise/wire/frame.hpp>

#include <cstring>

#include <reprise/base/assert.hpp>
#include <reprise/base/byte_reader.hpp>

#include "frames/message_frame.hpp"

namespace reprise::wire {

namespace {

bool is_expected(magic value, frame_direction direction) noexcept {
    switch (direction) {
        case frame_direction::to_client:
            return is_sent_by_server(value);
        case frame_direction::to_server:
            return !is_sent_by_server(value);
        case frame_direction::any:
            return true;
    }
    return false;
}

}  // namespace

std::expected<frame_header, wire_errc> decode_header(
    base::byte_view bytes, const frame_limits& limits) noexcept {
    REPRISE_ASSERT(bytes.size() >= header_size);
    base::byte_reader reader(bytes);
    const auto magic_byte = magic_from_byte(reader.read_u8());
    if (!magic_byte) {
        return std::unexpected(wire_errc::unknown_magic);
    }
    if (!is_expected(*magic_byte, limits.direction)) {
        return std::unexpected(wire_errc::unexpected_magic);
    }
    frame_header header;
    header.magic = *magic_byte;
    header.op = static_cast<opcode>(reader.read_u8());
    if (has_framing_extras(header.magic)) {
        header.framing_extras_size = reader.read_u8();
        header.key_size = reader.read_u8();
    } else {
        header.key_size = reader.read_u16();
    }
    header.extras_size = reader.read_u8();
    header.datatype = static_cast<datatype>(reader.read_u8());
    header.vbucket_or_status = reader.read_u16();
    header.body_size = reader.read_u32();
    header.opaque = reader.read_u32();
    header.cas = reader.read_u64();
    if (header.body_size > limits.body_size_max_bytes) {
        return std::unexpected(wire_errc::frame_too_large);
    }
    if (header.value_offset() > header.body_size) {
        return std::unexpected(wire_errc::lengths_exceed_body);
    }
    return header;
}

std::byte* encode_header(std::byte* out, const frame_header& header) noexcept {
    using base::store_big_endian;
    *out++ = static_cast<std::byte>(header.magic);
    *out++ = static_cast<std::byte>(header.op);
    if (has_framing_extras(header.magic)) {
        REPRISE_ASSERT(header.key_size <= 255);
        *out++ = static_cast<std::byte>(header.framing_extras_size);
        *out++ = static_cast<std::byte>(header.key_size);
    } else {
        REPRISE_ASSERT(header.framing_extras_size == 0);
        out = store_big_endian(out, header.key_size);
    }
    *out++ = static_cast<std::byte>(header.extras_size);
    *out++ = static_cast<std::byte>(header.datatype);
    out = store_big_endian(out, header.vbucket_or_status);
    out = store_big_endian(out, header.body_size);
    out = store_big_endian(out, header.opaque);
    return store_big_endian(out, header.cas);
}

frame_view::frame_view(const frame_header& header, base::byte_view body) noexcept
    : header_(header), body_(body) {
    REPRISE_ASSERT(body.size() == header.body_size);
    REPRISE_ASSERT(header.value_offset() <= header.body_size);
}

std::expected<void, wire_errc> encode_frame(base::byte_writer& out, const frame_parts& parts) {
    frame_header header;
    header.magic = parts.magic;
    header.op = parts.op;
    header.datatype = parts.datatype;
    header.vbucket_or_status = parts.vbucket_or_status;
    header.opaque = parts.opaque;
    header.cas = parts.cas;
    const detail::body_sizes sizes{parts.extras.size(), parts.key.size(), parts.value.size()};
    const auto begun = detail::begin_frame(out, header, parts.framing_extras, sizes);
    if (!begun) {
        return std::unexpected(begun.error());
    }
    std::byte* at = detail::store(*begun, parts.extras);
    detail::store(at, parts.key);
    out.write_bytes(parts.value);
    return {};
}

namespace detail {

std::byte* store(std::byte* at, base::byte_view bytes) noexcept {
    if (!bytes.empty()) {
        std::memcpy(at, bytes.data(), bytes.size());
    }
    return at + bytes.size();
}

std::expected<std::byte*, wire_errc> begin_frame(
    base::byte_writer& out, frame_header header, base::byte_view framing_extras,
    const body_sizes& sizes) {
    const bool is_alternative = has_framing_extras(header.magic);
    const std::size_t framing_max = is_alternative ? framing_extras_size_max : 0;
    const std::size_t key_max = is_alternative ? 0xff : 0xffff;
    const std::size_t head_size = framing_extras.size() + sizes.extras + sizes.key;
    if (framing_extras.size() > framing_max || sizes.extras > 0xff || sizes.key > key_max ||
        sizes.value > 0xffff'ffffu - head_size) {
        return std::unexpected(wire_errc::lengths_exceed_body);
    }
    header.framing_extras_size = static_cast<std::uint8_t>(framing_extras.size());
    header.extras_size = static_cast<std::uint8_t>(sizes.extras);
    header.key_size = static_cast<std::uint16_t>(sizes.key);
    header.body_size = static_cast<std::uint32_t>(head_size + sizes.value);
    // Checks the room for the whole frame before it writes the first byte.
    if (header.frame_size() > out.room()) {
        return std::unexpected(wire_errc::output_full);
    }
    std::byte* at = out.extend(header_size + head_size);
    REPRISE_ASSERT(at != nullptr);
    at = encode_header(at, header);
    return store(at, framing_extras);
}

}  // namespace detail

}  // namespace reprise::wire
