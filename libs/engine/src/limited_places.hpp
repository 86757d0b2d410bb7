#pragma once

#include <atomic>
#include <cstddef>

namespace reprise::engine {

// A few places that the loops of a client take and give back. Any thread may use it.
class limited_places {
public:
    explicit limited_places(std::size_t count) noexcept : free_(count) {}

    [[nodiscard]] bool try_enter() noexcept {
        std::size_t seen = free_.load();
        while (seen != 0 && !free_.compare_exchange_weak(seen, seen - 1)) {
        }
        return seen != 0;
    }
    void release() noexcept { ++free_; }

private:
    std::atomic<std::size_t> free_;
};

}  // namespace reprise::engine
