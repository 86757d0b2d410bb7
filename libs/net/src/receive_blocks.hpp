#pragma once

#include <cstddef>
#include <vector>

#include <reprise/base/slice.hpp>
#include <reprise/engine/driver_action.hpp>

namespace reprise::net {

// Where a connection receives: one block after the other, since results may hold on to theirs.
//
//     space() -> [the read] -> received(size) -> the bytes, in block()
//
// A block that nobody else holds is used again from its start. While large reads are wanted (rows
// stream), blocks grow as long as reads fill them, and those that come back are kept for reuse:
// memory that is still in the cache of the processor.
class receive_blocks {
public:
    // Blocks of the size that is used without large reads.
    static constexpr std::size_t size_default = engine::read_size_default;
    static constexpr std::size_t kept_count_max = 6;

    // For the next read; at least space_min bytes.
    [[nodiscard]] base::mutable_byte_view space();
    // What the read brought, at the beginning of the last space().
    [[nodiscard]] base::byte_view received(std::size_t size);
    // The block of the last space().
    [[nodiscard]] const base::block_ref& block() const noexcept { return block_; }
    void set_read_size_max(std::size_t size);

private:
    // With less room than this left in a block that results hold, another one is taken.
    static constexpr std::size_t space_min = std::size_t{4} * 1024;

    [[nodiscard]] std::size_t next_size() const noexcept;
    [[nodiscard]] base::block_ref take(std::size_t size);

    base::block_ref block_;
    std::size_t used_ = 0;
    bool is_filled_ = false;  // by one read
    std::size_t read_size_max_ = size_default;
    std::vector<base::block_ref> kept_;  // used before, maybe still held by others
};

}  // namespace reprise::net
