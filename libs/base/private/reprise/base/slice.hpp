#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>

#include <reprise/base/bytes.hpp>

namespace reprise::base {

class block_pool;

/// A reference-counted block of memory that a connection receives into and results point into.
///
/// The count is atomic, so the last owner may be on any thread. The content is not protected: the
/// receiver writes only to bytes that no slice covers, and reuses a block from its start only if
/// `is_unique()` shows that it has no other owner. So reuse needs neither locks nor pools.
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

    /// Allocates a block of `size` uninitialised bytes. Throws std::bad_alloc.
    static block_ref make(std::size_t size);

    explicit operator bool() const noexcept { return block_ != nullptr; }
    /// The whole block; empty for an empty reference.
    mutable_byte_view bytes() const noexcept;
    /// True if this is the only owner. Synchronises with owners that release the block on other
    /// threads.
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

/// The bytes of a result: either a part of a receive block, which it keeps alive, or a small copy
/// stored inline. It owns its bytes, is cheap to copy and may move between threads. A moved-from
/// slice is empty.
class slice {
public:
    /// Bytes up to this size are stored inline, so that a small result never keeps a block alive.
    static constexpr std::size_t inline_size_max = 48;

    slice() noexcept {}  // NOLINT(modernize-use-equals-default): it would set all inline bytes
    slice(const slice& other) noexcept : owner_(other.owner_), size_(other.size_) {
        take_content(other);
    }
    slice(slice&& other) noexcept
        : owner_(std::move(other.owner_)), size_(std::exchange(other.size_, 0)) {
        take_content(other);
    }
    slice& operator=(const slice& other) noexcept { return *this = slice(other); }
    [[gnu::always_inline]] slice& operator=(slice&& other) noexcept {
        owner_ = std::move(other.owner_);
        size_ = std::exchange(other.size_, 0);
        take_content(other);
        return *this;
    }
    ~slice() = default;

    /// Copies `bytes`: inline if small, otherwise with one allocation.
    static slice copy_of(byte_view bytes) {
        slice result;
        result.assign(bytes);
        return result;
    }
    /// `*this = copy_of(bytes)`, without the copy on the way. `bytes` must not be its own.
    [[gnu::always_inline]] void assign(byte_view bytes) {
        if (bytes.size() <= inline_size_max) {
            assign_inline(bytes);
        } else {
            fill(block_ref::make(bytes.size()), bytes);
        }
    }
    /// The same, but uses a block of `pool` instead of an allocation.
    [[gnu::always_inline]] void assign(byte_view bytes, block_pool& pool) {
        if (bytes.size() <= inline_size_max) {
            assign_inline(bytes);
        } else {
            assign_pooled(bytes, pool);
        }
    }
    static slice copy_of(byte_view bytes, block_pool& pool) {
        slice result;
        result.assign(bytes, pool);
        return result;
    }
    /// Empties the slice and releases its block.
    void clear() noexcept {
        owner_.reset();
        size_ = 0;
    }

    /// `part` must lie within `owner`. Copies it if it fits inline; otherwise shares the block and
    /// keeps it alive.
    static slice cut(const block_ref& owner, byte_view part);

    byte_view view() const noexcept {
        return {owner_ ? content_.shared : content_.own.data(), size_};
    }
    std::string_view text() const noexcept { return as_text(view()); }
    std::size_t size() const noexcept { return size_; }
    bool empty() const noexcept { return size_ == 0; }
    /// True if this slice keeps a block alive.
    bool is_shared() const noexcept { return static_cast<bool>(owner_); }

private:
    [[gnu::always_inline]] void assign_inline(byte_view bytes) noexcept {
        owner_.reset();
        size_ = bytes.size();
        copy_few(content_.own.data(), bytes);
    }
    void assign_pooled(byte_view bytes, block_pool& pool);
    // Copies into `owner`.
    void fill(block_ref&& owner, byte_view bytes) noexcept;
    void take_content(const slice& other) noexcept {
        if (size_ != 0) {
            content_ = other.content_;  // all of it, which is faster than only the used part
        }
    }

    union content {
        content() noexcept {}     // NOLINT(modernize-use-equals-default): see the slice's
        const std::byte* shared;  // with an owner
        std::array<std::byte, inline_size_max> own;  // without; set only as far as it is used
    };

    block_ref owner_;
    std::size_t size_ = 0;
    content content_;
};

}  // namespace reprise::base
