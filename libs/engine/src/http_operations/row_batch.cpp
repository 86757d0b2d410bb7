#include <reprise/engine/row_batch.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

namespace reprise::engine {

namespace {

// The blocks that a batch allocates start small and grow up to this size.
constexpr std::size_t own_block_size_max = std::size_t{256} * 1024;

// The range from the first to the last of adjacent rows.
std::string_view range_of(std::span<const std::string_view> rows) noexcept {
    const char* const begin = rows.front().data();
    return {begin, rows.back().data() + rows.back().size()};
}

}  // namespace

void row_batch::append(
    std::span<const std::string_view> rows, std::string_view piece, const base::block_ref* owner) {
    // The first row may have started in an earlier piece.
    while (!rows.empty() &&
           !base::lies_within(base::as_bytes(rows.front()), base::as_bytes(piece))) {
        append_copies(rows.first(1));
        rows = rows.subspan(1);
    }
    if (rows.empty()) {
        return;
    }
    if (owner != nullptr && base::lies_within(base::as_bytes(piece), owner->bytes())) {
        append_shared(rows, *owner);
    } else {
        append_copies(rows);
    }
}

void row_batch::append_shared(
    std::span<const std::string_view> rows, const base::block_ref& owner) {
    const std::byte* const block = owner.bytes().data();
    if (block != shared_last_) {
        parts_.memory.push_back(owner);
        shared_last_ = block;
    }
    parts_.rows.insert(parts_.rows.end(), rows.begin(), rows.end());
    size_bytes_ += range_of(rows).size();
}

void row_batch::append_copies(std::span<const std::string_view> rows) {
    const std::string_view from = range_of(rows);
    const std::string_view to = copy(from);
    for (const std::string_view row : rows) {
        parts_.rows.push_back(
            to.substr(static_cast<std::size_t>(row.data() - from.data()), row.size()));
    }
    size_bytes_ += from.size();
}

std::string_view row_batch::copy(std::string_view text) {
    if (text.size() > room_.size()) {
        own_size_last_ = std::max(text.size(), std::min(2 * own_size_last_, own_block_size_max));
        parts_.memory.push_back(base::block_ref::make(own_size_last_));
        room_ = parts_.memory.back().bytes();
    }
    const base::mutable_byte_view place = room_.first(text.size());
    std::memcpy(place.data(), text.data(), text.size());
    room_ = room_.subspan(text.size());
    return base::as_text(place);
}

row_batch::parts row_batch::take_parts() noexcept {
    row_batch taken;
    swap(taken);
    return std::move(taken.parts_);
}

void row_batch::swap(row_batch& other) noexcept {
    std::swap(parts_.rows, other.parts_.rows);
    std::swap(parts_.memory, other.parts_.memory);
    std::swap(size_bytes_, other.size_bytes_);
    std::swap(shared_last_, other.shared_last_);
    std::swap(room_, other.room_);
    std::swap(own_size_last_, other.own_size_last_);
}

void row_batch::clear() noexcept {
    parts_.rows.clear();
    parts_.memory.clear();
    size_bytes_ = 0;
    shared_last_ = nullptr;
    room_ = {};
    own_size_last_ = 0;
}

}  // namespace reprise::engine
