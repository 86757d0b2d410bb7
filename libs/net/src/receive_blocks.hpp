#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include <reprise/base/slice.hpp>
#include <reprise/engine/driver_action.hpp>

namespace reprise::net {

// The blocks into which a connection receives. There are several, because results may keep theirs.
//
//     space() -> [the read] -> received(size) -> the bytes, in block()
//
// A block without other owners is reused from its start. While large reads are enabled, blocks grow
// as long as reads fill them, and released blocks are kept for reuse, because their memory is still
// in the processor's cache. After many reads in a row that leave most of a block empty, its size is
// the default again.
class receive_blocks {
public:
    // The block size without large reads.
    static constexpr std::size_t size_default = engine::read_size_default;
    static constexpr std::size_t kept_count_max = 6;
    // After this many small reads in a row a large block is given up.
    static constexpr std::size_t small_count_max = 64;

    // Space for the next read, at least space_min bytes.
    [[nodiscard]] base::mutable_byte_view space() {
        if (block_.is_unique() && all_.size() == size_after(all_.size())) [[likely]] {
            used_ = 0;
            return all_;
        }
        return other_space();
    }
    // Returns the bytes that were read, at the beginning of the last space().
    [[nodiscard]] base::byte_view received(std::size_t size) {
        const auto bytes = all_.subspan(used_, size);
        used_ += size;
        is_filled_ = size == all_.size();
        small_count_ = size < all_.size() / 4 ? small_count_ + 1 : 0;
        return bytes;
    }
    // The block of the last space().
    [[nodiscard]] const base::block_ref& block() const noexcept { return block_; }
    void set_read_size_max(std::size_t size);

private:
    // If a block that results keep has less room than this, another block is used.
    static constexpr std::size_t space_min = std::size_t{4} * 1024;

    [[nodiscard]] base::mutable_byte_view other_space();
    // The size of the block that follows one of `last` bytes.
    [[nodiscard]] std::size_t size_after(std::size_t last) const noexcept {
        const std::size_t size = std::max(last, size_default);
        if (size > read_size_max_ || small_count_ >= small_count_max) {
            return size_default;
        }
        return is_filled_ ? std::min(2 * size, read_size_max_) : size;
    }
    [[nodiscard]] base::block_ref take(std::size_t size);

    base::block_ref block_;
    base::mutable_byte_view all_;  // of it
    std::size_t used_ = 0;
    bool is_filled_ = false;       // one read filled the space
    std::size_t small_count_ = 0;  // reads in a row that left three quarters of the block empty
    std::size_t read_size_max_ = size_default;
    std::vector<base::block_ref> kept_;  // used before; others may still own them
};

}  // namespace reprise::net
