#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>

#include <reprise/base/assert.hpp>
#include <reprise/base/byte_writer.hpp>
#include <reprise/base/bytes.hpp>
#include <reprise/wire/datatype.hpp>
#include <reprise/wire/ids.hpp>
#include <reprise/wire/magic.hpp>
#include <reprise/wire/opcode.hpp>
#include <reprise/wire/status.hpp>
#include <reprise/wire/wire_error.hpp>

namespace reprise::wire {

inline constexpr std::size_t header_size = 24;

/// The 24 bytes at the start of every frame, as numbers. The body follows in this order: framing
/// extras, extras, key, value.
struct frame_header {
    wire::magic magic = wire::magic::request;
    opcode op = opcode::get;
    std::uint8_t framing_extras_size = 0;  ///< 0 except with the two alternative magics
    std::uint8_t extras_size = 0;
    std::uint16_t key_size = 0;  ///< at most 255 with the two alternative magics
    wire::datatype datatype = wire::datatype::raw;
    std::uint16_t vbucket_or_status = 0;  ///< a status in responses, a vbucket otherwise
    std::uint32_t body_size = 0;          ///< size of all four parts
    std::uint32_t opaque = 0;             ///< chosen by the requester, echoed unchanged
    std::uint64_t cas = 0;

    /// Number of body bytes before the value. In a decoded header it never exceeds body_size.
    std::size_t value_offset() const noexcept {
        return std::size_t{framing_extras_size} + extras_size + key_size;
    }
    std::size_t frame_size() const noexcept { return header_size + body_size; }
};

/// The direction in which the frames of a stream travel. A magic of the other direction is an
/// error.
enum class frame_direction { to_client, to_server, any };

struct frame_limits {
    /// The largest body accepted: a 20 MiB value plus room for key, extras and xattrs. In bytes.
    std::uint32_t body_size_max_bytes = 21u * 1024u * 1024u;
    frame_direction direction = frame_direction::any;
};

/// Decodes a header from the first 24 bytes of `bytes` (fewer is a programming error). Checks it
/// completely before any byte of the body is needed. Fails with unknown_magic, unexpected_magic,
/// lengths_exceed_body or frame_too_large.
std::expected<frame_header, wire_errc> decode_header(
    base::byte_view bytes, const frame_limits& limits) noexcept;

/// Writes 24 bytes at `out`. Asserts that the header's sizes fit its magic.
[[gnu::always_inline]] inline std::byte* encode_header(
    std::byte* out, const frame_header& header) noexcept {
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

/// One whole frame in memory that it does not own. A copy copies the header and a pointer.
class frame_view {
public:
    frame_view() noexcept = default;
    /// The header must be a decoded one, and `body` must have exactly header.body_size bytes.
    frame_view(const frame_header& header, base::byte_view body) noexcept
        : header_(header), body_(body) {
        REPRISE_ASSERT(body.size() == header.body_size);
        REPRISE_ASSERT(header.value_offset() <= header.body_size);
    }

    const frame_header& header() const noexcept { return header_; }
    wire::magic magic() const noexcept { return header_.magic; }
    opcode op() const noexcept { return header_.op; }
    /// The opcode if the magic is server_request.
    server_opcode server_op() const noexcept { return static_cast<server_opcode>(header_.op); }
    wire::datatype datatype() const noexcept { return header_.datatype; }
    std::uint32_t opaque() const noexcept { return header_.opaque; }
    std::uint64_t cas() const noexcept { return header_.cas; }
    /// Meaningful only in responses.
    wire::status status() const noexcept {
        return static_cast<wire::status>(header_.vbucket_or_status);
    }
    /// Meaningful only in requests.
    vbucket_id vbucket() const noexcept { return vbucket_id{header_.vbucket_or_status}; }

    bool is_request() const noexcept {
        return header_.magic == wire::magic::request || header_.magic == wire::magic::alt_request;
    }
    bool is_response() const noexcept {
        return header_.magic == wire::magic::response || header_.magic == wire::magic::alt_response;
    }
    bool is_server_push() const noexcept { return header_.magic == wire::magic::server_request; }

    base::byte_view framing_extras() const noexcept {
        return body_.first(header_.framing_extras_size);
    }
    base::byte_view extras() const noexcept {
        return body_.subspan(header_.framing_extras_size, header_.extras_size);
    }
    base::byte_view key() const noexcept {
        return body_.subspan(header_.value_offset() - header_.key_size, header_.key_size);
    }
    base::byte_view value() const noexcept { return body_.subspan(header_.value_offset()); }
    base::byte_view body() const noexcept { return body_; }

private:
    friend class frame_reader;  // decodes into it

    frame_header header_;
    base::byte_view body_;
};

/// The parts of a frame to write. The views determine the sizes.
struct frame_parts {
    wire::magic magic = wire::magic::request;
    opcode op = opcode::get;
    wire::datatype datatype = wire::datatype::raw;
    std::uint16_t vbucket_or_status = 0;
    std::uint32_t opaque = 0;
    std::uint64_t cas = 0;
    base::byte_view framing_extras;  ///< only with an alternative magic
    base::byte_view extras;
    base::byte_view key;
    base::byte_view value;
};

/// Appends one whole frame, or nothing if it fails. Fails with lengths_exceed_body if a part does
/// not fit its length field or if there are framing extras and the magic does not allow them, and
/// with output_full.
std::expected<void, wire_errc> encode_frame(base::byte_writer& out, const frame_parts& parts);

}  // namespace reprise::wire
