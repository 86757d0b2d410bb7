#pragma once

#include <atomic>
#include <cstddef>

#include <reprise/base/block_pool.hpp>
#include <reprise/base/slice.hpp>

namespace reprise::base {

// Header of a block; its bytes follow directly behind it in the same allocation.
struct block_ref::block {
    std::atomic<std::size_t> holder_count{1};
    std::size_t size = 0;
    block_pool::home* home = nullptr;  // where it goes when nobody holds it; null: away
    block* next = nullptr;             // while it is there

    std::byte* data() noexcept { return reinterpret_cast<std::byte*>(this + 1); }

    static block* make(std::size_t size);
    static void destroy(block* unused) noexcept;
};

// What blocks and their pool share. Lives as long as one of them.
struct block_pool::home {
    using block = block_ref::block;

    // Any thread; nobody holds the block.
    void take_back(block* unused) noexcept;
    // The pool's thread. Sorts those that came back; frees all that are here, and maybe itself.
    void collect() noexcept;
    void close() noexcept;
    void release(std::size_t count) noexcept;

    struct free_list {
        block* first = nullptr;
        std::size_t count = 0;
    };
    static constexpr std::size_t class_count = 7;  // 64, 128, ... 4096 bytes
    static_assert(size_min << (class_count - 1) == size_max);

    static block closed;  // stands in `returned` when the pool is gone

    std::atomic<block*> returned{nullptr};     // newest first
    std::atomic<std::size_t> holder_count{1};  // the pool, and blocks in use or here
    free_list free[class_count];
};

}  // namespace reprise::base
