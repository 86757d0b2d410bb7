#include "receive_blocks.hpp"

#include <algorithm>
#include <utility>

namespace reprise::net {

// Another block, or one that results share.
base::mutable_byte_view receive_blocks::other_space() {
    const std::size_t size = all_.size();
    const std::size_t wanted = size_after(size);
    if (block_.is_unique()) {
        used_ = 0;
        if (size > wanted) {
            kept_.clear();
        }
        block_ = take(wanted);
    } else if (!block_ || size - used_ < std::max(space_min, size / 8)) {
        base::block_ref next = take(wanted);
        if (block_ && read_size_max_ > size_default) {
            if (kept_.size() == kept_count_max) {
                kept_.erase(kept_.begin());
            }
            kept_.push_back(std::move(block_));
        }
        block_ = std::move(next);
        used_ = 0;
    }
    all_ = block_.bytes();
    return all_.subspan(used_);
}

void receive_blocks::set_read_size_max(std::size_t size) {
    read_size_max_ = std::max(size, size_default);
    if (read_size_max_ == size_default) {
        kept_ = {};
    }
}

base::block_ref receive_blocks::take(std::size_t size) {
    const auto is_free = [&](const base::block_ref& each) {
        return each.bytes().size() == size && each.is_unique();
    };
    const auto found = std::ranges::find_if(kept_, is_free);
    if (found == kept_.end()) {
        return base::block_ref::make(size);
    }
    base::block_ref taken = std::move(*found);
    kept_.erase(found);
    return taken;
}

}  // namespace reprise::net
