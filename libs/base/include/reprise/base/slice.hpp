#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include <reprise/base/bytes.hpp>

namespace reprise::base {

class block_pool;

// A counted block of memory that a connection receives into and results point into.
//
// Counting is atomic, so the last holder may be on any thread. The content is not protected: the
// receiver writes only to bytes that no slice covers, and reuses a block from its start only when
// `is_unique()` says that nobody else holds it. That makes recycling free of locks and of pools.
class block_ref {
public:
    block_ref() noexcept = default;
    block_ref(const block_ref& other) noexcept;
    block_ref(block_ref&& other) noexcept : block_(other.block_) { other.block_ = nullptr; }
    block_ref& operator=(const block_ref& other) noexcept;
    block_ref& operator=(block_ref&& other) noexcept {
        if (this != &other) {
            reset();
            block_ = std::exchange(other.block_, nullptr);
        }
        return *this;
    }
    ~block_ref() { reset(); }

    // A fresh block of `size` bytes, content not set. Throws std::bad_alloc.
    static block_ref make(std::size_t size);

    explicit operator bool() const noexcept { return block_ != nullptr; }
    // The whole block; empty for an empty reference.
    mutable_byte_view bytes() const noexcept;
    // True when this is the only holder. Synchronises with holders that let go on other threads.
    bool is_unique() const noexcept;
    void reset() noexcept {
        if (block_ != nullptr) {
            release();
        }
    }

private:
    friend class block_pool;
    struct block;

    void release() noexcept;

    block* block_ = nullptr;
};

// Bytes of a result: either a piece of a receive block, kept alive by counting, or a small copy
// held inside. Owns what it shows; copying is cheap; movable across threads. A moved-from slice is
// empty.
class slice {
public:
    // Up to this size the bytes are stored inside, so a tiny result never pins a block.
    static constexpr std::size_t inline_size_max = 48;

    slice() noexcept {}  // NOLINT(modernize-use-equals-default): that would set all bytes inside
    slice(const slice& other) noexcept
        : owner_(other.owner_), data_(other.data_), size_(other.size_) {
        take_inline(other);
    }
    slice(slice&& other) noexcept
        : owner_(std::move(other.owner_)),
          data_(other.data_),
          size_(std::exchange(other.size_, 0)) {
        take_inline(other);
    }
    slice& operator=(const slice& other) noexcept { return *this = slice(other); }
    slice& operator=(slice&& other) noexcept {
        owner_ = std::move(other.owner_);
        data_ = other.data_;
        size_ = std::exchange(other.size_, 0);
        take_inline(other);
        return *this;
    }
    ~slice() = default;

    // Its own copy of `bytes`: inside when small, otherwise one allocation.
    static slice copy_of(byte_view bytes);
    // The same with a block of `pool` instead of the allocation.
    static slice copy_of(byte_view bytes, block_pool& pool);

    // `part` must lie within `owner`. Copied when it fits inside; otherwise shares the block, and
    // keeps it alive.
    static slice cut(const block_ref& owner, byte_view part);

    byte_view view() const noexcept { return {owner_ ? data_ : inline_.data(), size_}; }
    std::string_view text() const noexcept { return as_text(view()); }
    std::size_t size() const noexcept { return size_; }
    bool empty() const noexcept { return size_ == 0; }
    // True when this slice keeps a block alive.
    bool is_shared() const noexcept { return static_cast<bool>(owner_); }

private:
    // Into `owner`, or inside if it is empty.
    static slice copy_to(block_ref&& owner, byte_view bytes) noexcept;
    void take_inline(const slice& other) noexcept {
        if (size_ != 0 && !owner_) {
            inline_ = other.inline_;  // all of it: faster than as much as is used
        }
    }

    block_ref owner_;
    const std::byte* data_ = nullptr;
    std::size_t size_ = 0;
    std::array<std::byte, inline_size_max> inline_;  // set only as far as it is used
};

}  // namespace reprise::base
