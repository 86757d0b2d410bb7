#include <reprise/base/slice.hpp>

#include <cstring>
#include <utility>

#include <reprise/base/assert.hpp>

#include "block.hpp"

namespace reprise::base {

block_ref::block_ref(const block_ref& other) noexcept : block_(other.block_) {
    if (block_ != nullptr) {
        block_->holder_count.fetch_add(1, std::memory_order_relaxed);
    }
}

block_ref& block_ref::operator=(const block_ref& other) noexcept {
    return *this = block_ref(other);
}

block_ref block_ref::make(std::size_t size) {
    block_ref made;
    made.block_ = block::make(size);
    return made;
}

mutable_byte_view block_ref::bytes() const noexcept {
    if (block_ == nullptr) {
        return {};
    }
    return {block_->data(), block_->size};
}

bool block_ref::is_unique() const noexcept {
    return block_ != nullptr && block_->holder_count.load(std::memory_order_acquire) == 1;
}

void block_ref::release() noexcept {
    block* const released = std::exchange(block_, nullptr);
    if (released->holder_count.fetch_sub(1, std::memory_order_acq_rel) != 1) {
        return;
    }
    if (released->home != nullptr) {
        released->home->take_back(released);
    } else {
        block::destroy(released);
    }
}

void slice::assign_pooled(byte_view bytes, block_pool& pool) {
    fill(pool.make(bytes.size()), bytes);
}

void slice::fill(block_ref&& owner, byte_view bytes) noexcept {
    owner_ = std::move(owner);
    size_ = bytes.size();
    std::byte* const target = owner_.bytes().data();
    content_.shared = target;
    std::memcpy(target, bytes.data(), bytes.size());
}

slice slice::cut(const block_ref& owner, byte_view part) {
    if (part.size() <= inline_size_max) {
        return copy_of(part);
    }
    REPRISE_ASSERT(lies_within(part, owner.bytes()));
    slice result;
    result.owner_ = owner;
    result.content_.shared = part.data();
    result.size_ = part.size();
    return result;
}

}  // namespace reprise::base
