#pragma once

/// Memory for handlers that must find all of it returned.

#include <atomic>
#include <cstddef>
#include <memory_resource>

namespace reprise::testing {

/// Counts allocations and deallocations, of any number of threads.
class counting_memory final : public std::pmr::memory_resource {
public:
    std::atomic<std::size_t> allocations = 0;
    std::atomic<std::size_t> live = 0;

private:
    void* do_allocate(std::size_t size, std::size_t alignment) override {
        ++allocations;
        ++live;
        return std::pmr::new_delete_resource()->allocate(size, alignment);
    }
    void do_deallocate(void* place, std::size_t size, std::size_t alignment) override {
        --live;
        std::pmr::new_delete_resource()->deallocate(place, size, alignment);
    }
    bool do_is_equal(const memory_resource& other) const noexcept override {
        return this == &other;
    }
};

}  // namespace reprise::testing
