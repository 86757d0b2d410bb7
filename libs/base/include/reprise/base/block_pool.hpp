#pragma once

#include <cstddef>

#include <reprise/base/slice.hpp>

namespace reprise::base {

// Small blocks that come back: what one thread takes, any thread may let go, and it is used again
// without an allocation. For results that are copied out of a large block, so that they do not hold
// on to it.
//
// Blocks may outlive the pool. It keeps as many as were in use at once, up to a bound of bytes for
// each size; a block beyond it is freed when it comes back.
class block_pool {
public:
    static constexpr std::size_t size_min = 64;
    static constexpr std::size_t size_max = 4096;
    static constexpr std::size_t kept_size_max = std::size_t{256} * 1024;  // bytes, of each size

    block_pool();
    block_pool(const block_pool&) = delete;
    block_pool& operator=(const block_pool&) = delete;
    ~block_pool();

    // At least `size` bytes, content not set; larger ones than size_max are not pooled. One thread
    // at a time. Throws std::bad_alloc.
    [[nodiscard]] block_ref make(std::size_t size);

private:
    struct home;
    friend class block_ref;

    home* home_;
};

}  // namespace reprise::base
