#pragma once

#include <cstddef>

#include <reprise/base/slice.hpp>

namespace reprise::base {

/// Blocks that are reused without an allocation: one thread makes them, and any thread may release
/// them. They hold results that are copied out of a large block, so that the results do not keep
/// the large block alive, and values that are about to be sent.
///
/// Blocks may outlive the pool. The pool keeps as many blocks as were in use at once, up to a limit
/// for each size, and frees a released block beyond that limit. It keeps a few large ones, too:
/// the C library would return their memory to the system and have it cleared again each time.
class block_pool {
public:
    static constexpr std::size_t size_min = 64;
    static constexpr std::size_t size_max = std::size_t{2048} * 1024;
    /// For each size, blocks up to this many bytes are kept, and always this many blocks.
    static constexpr std::size_t kept_size_max = std::size_t{256} * 1024;
    static constexpr std::size_t kept_count_min = 4;

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
