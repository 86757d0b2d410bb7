#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>

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

// The 24 bytes every frame starts with, as numbers. The body follows in this order: framing extras,
// extras, key, value.
struct frame_header {
    wire::magic magic = wire::magic::request;
    opcode op = opcode::get;
    std::uint8_t framing_extras_size = 0;  // only in the two alternative magics, else 0
    std::uint8_t extras_size = 0;
    std::uint16_t key_size = 0;  // at most 255 in the two alternative magics
    wire::datatype datatype = wire::datatype::raw;
    std::uint16_t vbucket_or_status = 0;  // a status in responses, else a vbucket
    std::uint32_t body_size = 0;          // all four parts
    std::uint32_t opaque = 0;             // chosen by the requester, echoed untouched
    std::uint64_t cas = 0;

    // Bytes of the body before the value. In a decoded header never above body_size.
    std::size_t value_offset() const noexcept {
        return std::size_t{framing_extras_size} + extras_size + key_size;
    }
    std::size_t frame_size() const noexcept { return header_size + body_size; }
};

// Which way the frames of a stream travel; a magic of the other way is an error.
enum class frame_direction { to_client, to_server, any };

struct frame_limits {
    // Largest body accepted: a 20 MiB value with room for key, extras and xattrs. Bytes.
    std::uint32_t body_size_max_bytes = 21u * 1024u * 1024u;
    frame_direction direction = frame_direction::any;
};

// Reads a header from the first 24 bytes of `bytes` (fewer is a programming error) and checks all
// of it before any body byte is needed. Errors: unknown_magic, unexpected_magic,
// lengths_exceed_body, frame_too_large.
std::expected<frame_header, wire_errc> decode_header(
    base::byte_view bytes, const frame_limits& limits) noexcept;

// Writes 24 bytes at `out`. The header's sizes must fit its magic (asserted).
std::byte* encode_header(std::byte* out, const frame_header& header) noexcept;

// One whole frame in memory somebody else owns. Copying it copies the header and a pointer.
class frame_view {
public:
    frame_view() noexcept = default;
    // `body` must be exactly header.body_size bytes, and the header a decoded one.
    frame_view(const frame_header& header, base::byte_view body) noexcept;

    const frame_header& header() const noexcept { return header_; }
    wire::magic magic() const noexcept { return header_.magic; }
    opcode op() const noexcept { return header_.op; }
    // Meaning of the opcode byte when the magic is server_request.
    server_opcode server_op() const noexcept { return static_cast<server_opcode>(header_.op); }
    wire::datatype datatype() const noexcept { return header_.datatype; }
    std::uint32_t opaque() const noexcept { return header_.opaque; }
    std::uint64_t cas() const noexcept { return header_.cas; }
    // Meaningful only in responses.
    wire::status status() const noexcept {
        return static_cast<wire::status>(header_.vbucket_or_status);
    }
    // Meaningful only in requests.
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
    frame_header header_;
    base::byte_view body_;
};

// The pieces of a frame to be written. Sizes are taken from the views.
struct frame_parts {
    wire::magic magic = wire::magic::request;
    opcode op = opcode::get;
    wire::datatype datatype = wire::datatype::raw;
    std::uint16_t vbucket_or_status = 0;
    std::uint32_t opaque = 0;
    std::uint64_t cas = 0;
    base::byte_view framing_extras;  // only with an alternative magic
    base::byte_view extras;
    base::byte_view key;
    base::byte_view value;
};

// Appends one frame, whole or not at all. Errors: lengths_exceed_body (a part is longer than its
// length field can say, or framing extras with a magic that has none), output_full.
std::expected<void, wire_errc> encode_frame(base::byte_writer& out, const frame_parts& parts);

}  // namespace reprise::wire
