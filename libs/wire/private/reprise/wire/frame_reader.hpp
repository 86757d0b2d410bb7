#pragma once

#include <cstddef>
#include <expected>
#include <optional>

#include <reprise/base/block_pool.hpp>
#include <reprise/base/bytes.hpp>
#include <reprise/base/slice.hpp>
#include <reprise/wire/frame.hpp>
#include <reprise/wire/header_decoding.hpp>
#include <reprise/wire/wire_error.hpp>

namespace reprise::wire {

/// The result of looking at the beginning of a buffer.
struct frame_scan {
    /// The frame, if the buffer contains all of it. It points into the buffer.
    std::optional<frame_view> frame;
    /// With a frame: its size, which you remove from the buffer. Without: the size that the buffer
    /// must reach before the next scan can succeed (24, then the whole frame).
    std::size_t size = header_size;
};

/// Looks for one whole frame at the beginning of `buffer`, without copying and without state. It is
/// for receivers that keep their bytes contiguous. Fails with the errors of `decode_header`, which
/// are final.
std::expected<frame_scan, wire_errc> scan_frame(
    base::byte_view buffer, const frame_limits& limits) noexcept;

/// Splits a stream, fed in chunks of any size, into frames.
///
///     feed(chunk) -> next() until it returns nothing -> feed(next chunk) -> ...
///
/// A frame that lies entirely within a chunk is returned in place. Only a frame that crosses chunks
/// is gathered in a block of the reader's. That block never exceeds one frame within the limits,
/// and it grows with the bytes received, not with the length announced. The rest of a large frame
/// can be received into that block, which saves the copy:
///
///     place() -> the read -> feed(the bytes read, at the beginning of the place) -> next()
class frame_reader {
public:
    /// A block below this size may be larger than the bytes received justify.
    static constexpr std::size_t block_size_min = std::size_t{64} * 1024;
    /// A larger block has at most this many times the size of the bytes received.
    static constexpr std::size_t block_growth = 16;

    /// A smaller part of a frame has no place: one read of another block may bring further frames.
    static constexpr std::size_t place_size_min = std::size_t{16} * 1024;

    /// With a `pool`, which must outlive the reader, blocks are taken from there.
    explicit frame_reader(const frame_limits& limits, base::block_pool* pool = nullptr) noexcept
        : limits_(limits), pool_(pool) {}

    /// `chunk` must stay valid and unchanged until `next()` returns nothing or an error. Asserts
    /// that the previous chunk was consumed that way.
    void feed(base::byte_view chunk) noexcept;

    /// Returns the next frame, or null if it needs more bytes. The frame is valid until the next
    /// call to `next()` or `feed()`. After an error every call returns the same error: the stream
    /// is lost and the connection must be closed.
    std::expected<const frame_view*, wire_errc> next();

    /// True between frames. If the stream ends elsewhere, it ends in the middle of a frame.
    bool is_at_boundary() const noexcept { return chunk_.empty() && gathered_size_ == 0; }
    /// Number of bytes stored of an incomplete frame.
    std::size_t gathered_size() const noexcept { return gathered_size_; }
    /// Size of the block that they are stored in.
    std::size_t block_size() const noexcept { return gathered_.bytes().size(); }
    /// Where the next bytes of the current frame may be received: at most the rest of it. Empty
    /// unless a large part is missing and the block has room for it. Valid until the next call to
    /// `feed()`. Keep `gathered_into()` while a read is pending.
    base::mutable_byte_view place() const noexcept;
    const base::block_ref& gathered_into() const noexcept { return gathered_; }
    /// The block that the last frame was gathered in; null if it lies within its chunk. The frame's
    /// bytes stay valid as long as anything keeps a reference to the block.
    const base::block_ref* gathered_block() const noexcept {
        return is_gathered_shown_ ? &gathered_ : nullptr;
    }

private:
    std::expected<const frame_view*, wire_errc> next_in_parts();
    std::expected<const frame_view*, wire_errc> next_gathered();
    std::expected<const frame_view*, wire_errc> fail(wire_errc error) noexcept;
    // Moves up to `size` bytes from the chunk to the gathered ones. `frame_size` is that of the
    // whole frame, as far as it is known.
    void gather(std::size_t size, std::size_t frame_size);
    void make_room(std::size_t size, std::size_t frame_size);
    void release_gathered() noexcept;

    frame_limits limits_;
    base::block_pool* pool_;
    base::byte_view chunk_;
    // The beginning of a frame that crosses chunks, or the whole frame until the next call.
    base::block_ref gathered_;
    std::size_t gathered_size_ = 0;
    bool is_gathered_shown_ = false;
    frame_view shown_;  // the frame that the last call returned
    std::optional<wire_errc> failure_;
};

// Inline, because each answer passes here. Nearly every frame lies entirely within its chunk; then
// its header is decoded where the caller looks at it. After a failure there is no chunk.
inline std::expected<const frame_view*, wire_errc> frame_reader::next() {
    if (gathered_size_ != 0 || chunk_.size() < header_size) {
        const bool is_at_end = is_at_boundary() && !failure_;
        return is_at_end ? nullptr : next_in_parts();
    }
    frame_header& header = shown_.header_;
    if (const auto error = detail::read_header(chunk_.data(), limits_, header)) [[unlikely]] {
        return fail(*error);
    }
    const std::size_t size = header.frame_size();
    if (chunk_.size() < size) {
        return next_in_parts();
    }
    shown_.body_ = chunk_.subspan(header_size, header.body_size);
    chunk_ = chunk_.subspan(size);
    return &shown_;
}

}  // namespace reprise::wire
