#pragma once

#include <cstddef>
#include <expected>
#include <optional>
#include <vector>

#include <reprise/base/bytes.hpp>
#include <reprise/wire/frame.hpp>
#include <reprise/wire/wire_error.hpp>

namespace reprise::wire {

// What stands at the beginning of a buffer.
struct frame_scan {
    // The frame, pointing into the buffer, when all of it is there.
    std::optional<frame_view> frame;
    // With a frame: its size, to be dropped from the buffer. Without: the size the buffer must
    // reach before anything can be said (24, then the whole frame).
    std::size_t size = header_size;
};

// Looks for one whole frame at the beginning of `buffer`, without copying and without state: for
// receivers that keep their bytes contiguous. Errors as `decode_header`; they are final.
std::expected<frame_scan, wire_errc> scan_frame(
    base::byte_view buffer, const frame_limits& limits) noexcept;

// Cuts a stream, fed in pieces of any size, into frames.
//
//     feed(chunk) -> next() until it gives nothing -> feed(next chunk) -> ...
//
// A frame that lies whole in the chunk is shown in place; only one that crosses chunks is gathered
// in the reader's own buffer, which never grows beyond one frame within the limits and grows with
// the bytes that came, not with the length that was promised.
class frame_reader {
public:
    explicit frame_reader(const frame_limits& limits) noexcept : limits_(limits) {}

    // `chunk` must stay valid and unchanged until `next()` has returned nothing or an error. The
    // previous chunk must have been used up that way (asserted).
    void feed(base::byte_view chunk) noexcept;

    // The next frame; nothing when more bytes are needed. The view is valid until the next call of
    // `next()` or `feed()`. After an error every further call gives the same error: the stream is
    // lost and the connection must be closed.
    std::expected<std::optional<frame_view>, wire_errc> next();

    // True between frames: an end of stream here is clean, elsewhere it cut a frame.
    bool is_at_boundary() const noexcept { return chunk_.empty() && gathered_.empty(); }
    // Bytes held of a frame that has not fully come yet.
    std::size_t gathered_size() const noexcept { return gathered_.size(); }

private:
    std::expected<std::optional<frame_view>, wire_errc> next_gathered();
    std::expected<std::optional<frame_view>, wire_errc> fail(wire_errc error) noexcept;

    frame_limits limits_;
    base::byte_view chunk_;
    // The beginning of a frame that crosses chunks, or such a frame whole while it is shown.
    std::vector<std::byte> gathered_;
    bool is_gathered_shown_ = false;
    std::optional<wire_errc> failure_;
};

}  // namespace reprise::wire
