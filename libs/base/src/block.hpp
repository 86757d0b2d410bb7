#pragma once

#include <atomic>
#include <cstddef>

#include <reprise/base/block_pool.hpp>
#include <reprise/base/slice.hpp>

namespace reprise::base {

// The header of a block. The block's bytes follow it in the same allocation.
struct block_ref::block {
    std::atomic<std::size_t> holder_count{1};
    std::size_t size = 0;
    // Where it returns when its last owner releases it; null if it is not pooled.
    block_pool::home* home = nullptr;
    block* next = nullptr;  // the next free block

    std::byte* data() noexcept { return reinterpret_cast<std::byte*>(this + 1); }

    static block* make(std::size_t size);
    static void destroy(block* unused) noexcept;
};

// Shared by blocks and their pool. It lives as long as one of them.
struct block_pool::home {
    using block = block_ref::block;

    // Called on any thread, after the last owner has released the block.
    void take_back(block* unused) noexcept;
    // Called on the pool's thread. collect sorts the returned blocks; close frees all free blocks,
    // and this object if no block is in use.
    void collect() noexcept;
    void close() noexcept;
    void release(std::size_t count) noexcept;

    struct free_list {
        block* first = nullptr;
        std::size_t count = 0;
    };
    static constexpr std::size_t class_count = 16;  // 64 bytes, 128 bytes, ... 2 MiB
    static_assert(size_min << (class_count - 1) == size_max);

    static block closed;  // the value of `returned` after the pool is destroyed

    std::atomic<block*> returned{nullptr};     // newest first
    std::atomic<std::size_t> holder_count{1};  // the pool, blocks in use, and free blocks
    free_list free[class_count];
};

}  // namespace reprise::base
