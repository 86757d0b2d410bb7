#include <reprise/base/slice.hpp>

#include <cstring>
#include <functional>
#include <new>
#include <utility>

#include <reprise/base/assert.hpp>

namespace reprise::base {

// Header of a block; its bytes follow directly behind it in the same allocation.
struct block_ref::block {
    std::atomic<std::size_t> holder_count{1};
    std::size_t size = 0;

    std::byte* data() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
};

block_ref::block_ref(const block_ref& other) noexcept : block_(other.block_) {
    if (block_ != nullptr) {
        block_->holder_count.fetch_add(1, std::memory_order_relaxed);
    }
}

block_ref& block_ref::operator=(const block_ref& other) noexcept {
    return *this = block_ref(other);
}

block_ref block_ref::make(std::size_t size) {
    void* memory = ::operator new(sizeof(block) + size);
    block_ref made;
    made.block_ = new (memory) block;
    made.block_->size = size;
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
    if (released->holder_count.fetch_sub(1, std::memory_order_acq_rel) == 1) {
        released->~block();
        ::operator delete(released);
    }
}

slice slice::copy_of(byte_view bytes) {
    slice result;
    result.size_ = bytes.size();
    if (bytes.empty()) {
        return result;
    }
    std::byte* target = result.inline_.data();
    if (bytes.size() > inline_size_max) {
        result.owner_ = block_ref::make(bytes.size());
        target = result.owner_.bytes().data();
        result.data_ = target;
    }
    std::memcpy(target, bytes.data(), bytes.size());
    return result;
}

slice slice::cut(const block_ref& owner, byte_view part, std::size_t share_size_min_bytes) {
    if (part.size() <= inline_size_max || part.size() < share_size_min_bytes) {
        return copy_of(part);
    }
    const mutable_byte_view whole = owner.bytes();
    // std::less orders pointers of different objects too.
    const std::less<const std::byte*> before;
    REPRISE_ASSERT(!before(part.data(), whole.data()));
    REPRISE_ASSERT(!before(whole.data() + whole.size(), part.data() + part.size()));
    slice result;
    result.owner_ = owner;
    result.data_ = part.data();
    result.size_ = part.size();
    return result;
}

}  // namespace reprise::base
