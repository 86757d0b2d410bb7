#pragma once

#include <cstddef>

#include <reprise/base/slice.hpp>

namespace reprise::base {

/// Small blocks that are reused without an allocation: one thread makes them, and any thread may
/// release them. They hold results that are copied out of a large block, so that the results do not
/// keep the large block alive.
///
/// Blocks may outlive the pool. The pool keeps as many blocks as were in use at once, up to a limit
/// of bytes for each size, and frees a released block beyond that limit.
class block_pool {
public:
    static constexpr std::size_t size_min = 64;
    static constexpr std::size_t size_max = 4096;
    static constexpr std::size_t kept_size_max = std::size_t{256} * 1024;  ///< bytes, for each size

    block_pool();
    block_pool(const block_pool&) = delete;
    block_pool& operator=(const block_pool&) = delete;
    ~block_pool();

    /// Returns at least `size` uninitialised bytes. Blocks larger than size_max are not pooled.
    /// Call it from one thread at a time. Throws std::bad_alloc.
    [[nodiscard]] block_ref make(std::size_t size);

private:
    struct home;
    friend class block_ref;

    home* home_;
};

}  // namespace reprise::base
