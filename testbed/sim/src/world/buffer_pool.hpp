#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace reprise::sim {

// Buffers that were used and can be used again.
class buffer_pool {
public:
    // An empty buffer.
    std::vector<std::byte> take() {
        if (buffers_.empty()) {
            return {};
        }
        std::vector<std::byte> buffer = std::move(buffers_.back());
        buffers_.pop_back();
        buffer.clear();
        return buffer;
    }
    void give(std::vector<std::byte>&& buffer) {
        if (buffer.capacity() != 0 && buffers_.size() < count_max) {
            buffers_.push_back(std::move(buffer));
        }
    }

private:
    static constexpr std::size_t count_max = 256;

    std::vector<std::vector<std::byte>> buffers_;
};

}  // namespace reprise::sim
