#include <reprise/wire/frame_reader.hpp>

#include <algorithm>

#include <reprise/base/assert.hpp>

namespace reprise::wire {

std::expected<frame_scan, wire_errc> scan_frame(
    base::byte_view buffer, const frame_limits& limits) noexcept {
    frame_scan scan;
    if (buffer.size() < header_size) {
        return scan;
    }
    const auto header = decode_header(buffer, limits);
    if (!header) {
        return std::unexpected(header.error());
    }
    scan.size = header->frame_size();
    if (buffer.size() >= scan.size) {
        scan.frame.emplace(*header, buffer.subspan(header_size, header->body_size));
    }
    return scan;
}

void frame_reader::feed(base::byte_view chunk) noexcept {
    REPRISE_ASSERT(chunk_.empty());
    if (!failure_) {
        chunk_ = chunk;
    }
}

std::expected<const frame_view*, wire_errc> frame_reader::next_in_parts() {
    if (failure_) {
        return std::unexpected(*failure_);
    }
    if (is_gathered_shown_) {
        gathered_.clear();
        is_gathered_shown_ = false;
        if (chunk_.size() >= header_size) {
            return next();
        }
    }
    if (!gathered_.empty()) {
        return next_gathered();
    }
    if (!chunk_.empty()) {
        gathered_.assign(chunk_.begin(), chunk_.end());
        chunk_ = {};
    }
    return nullptr;
}

// Takes from the chunk only what the current frame still needs: first its header, then its body.
std::expected<const frame_view*, wire_errc> frame_reader::next_gathered() {
    for (;;) {
        const auto scan = scan_frame(gathered_, limits_);
        if (!scan) {
            return fail(scan.error());
        }
        if (scan->frame) {
            is_gathered_shown_ = true;
            shown_ = *scan->frame;
            return &shown_;
        }
        if (chunk_.empty()) {
            return nullptr;
        }
        const std::size_t taken = std::min(scan->size - gathered_.size(), chunk_.size());
        gathered_.insert(
            gathered_.end(), chunk_.begin(), chunk_.begin() + static_cast<std::ptrdiff_t>(taken));
        chunk_ = chunk_.subspan(taken);
    }
}

std::expected<const frame_view*, wire_errc> frame_reader::fail(wire_errc error) noexcept {
    failure_ = error;
    chunk_ = {};
    return std::unexpected(error);
}

}  // namespace reprise::wire
