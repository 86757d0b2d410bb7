#include <reprise/wire/frame.hpp>
#include <reprise/wire/header_decoding.hpp>

#include "frames/message_frame.hpp"

namespace reprise::wire {

std::expected<frame_header, wire_errc> decode_header(
    base::byte_view bytes, const frame_limits& limits) noexcept {
    frame_header header;
    REPRISE_ASSERT(bytes.size() >= header_size);
    if (const auto error = detail::read_header(bytes.data(), limits, header)) {
        return std::unexpected(*error);
    }
    return header;
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

}  // namespace reprise::wire
