#include <reprise/wire/frame_reader.hpp>

#include <algorithm>
#include <utility>

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
        release_gathered();
        if (chunk_.size() >= header_size) {
            return next();
        }
    }
    if (gathered_size_ == 0 && chunk_.empty()) {
        return nullptr;
    }
    return next_gathered();
}

// Takes from the chunk only what the current frame still needs: first its header, then its body.
std::expected<const frame_view*, wire_errc> frame_reader::next_gathered() {
    for (;;) {
        const auto scan = scan_frame(gathered_.bytes().first(gathered_size_), limits_);
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
        gather(scan->size - gathered_size_, scan->size);
    }
}

base::mutable_byte_view frame_reader::place() const noexcept {
    if (gathered_size_ < header_size || is_gathered_shown_ || !chunk_.empty() || failure_) {
        return {};
    }
    const auto scan = scan_frame(gathered_.bytes().first(gathered_size_), limits_);
    const auto room = gathered_.bytes().subspan(gathered_size_);
    const std::size_t size = scan ? std::min(scan->size - gathered_size_, room.size()) : 0;
    return size < place_size_min ? base::mutable_byte_view() : room.first(size);
}

void frame_reader::gather(std::size_t size, std::size_t frame_size) {
    const base::byte_view taken = chunk_.first(std::min(size, chunk_.size()));
    const bool is_in_place = taken.data() == gathered_.bytes().data() + gathered_size_;
    REPRISE_ASSERT(!is_in_place || taken.size() <= gathered_.bytes().size() - gathered_size_);
    if (!is_in_place) {
        make_room(taken.size(), frame_size);
        std::ranges::copy(taken, gathered_.bytes().subspan(gathered_size_).begin());
    }
    gathered_size_ += taken.size();
    chunk_ = chunk_.subspan(taken.size());
}

void frame_reader::make_room(std::size_t size, std::size_t frame_size) {
    const std::size_t needed = gathered_size_ + size;
    if (gathered_.bytes().size() >= needed) {
        return;
    }
    const std::size_t wanted =
        std::min(frame_size, std::max(block_size_min, block_growth * needed));
    base::block_ref larger = pool_ != nullptr ? pool_->make(wanted) : base::block_ref::make(wanted);
    std::ranges::copy(gathered_.bytes().first(gathered_size_), larger.bytes().begin());
    gathered_ = std::move(larger);
}

// A small block that nobody shares is kept for the next frame.
void frame_reader::release_gathered() noexcept {
    is_gathered_shown_ = false;
    gathered_size_ = 0;
    if (gathered_.bytes().size() > block_size_min || !gathered_.is_unique()) {
        gathered_.reset();
    }
}

std::expected<const frame_view*, wire_errc> frame_reader::fail(wire_errc error) noexcept {
    failure_ = error;
    chunk_ = {};
    return std::unexpected(error);
}

}  // namespace reprise::wire
