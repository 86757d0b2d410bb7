#include "allocation_count.hpp"

#include <atomic>
#include <cstddef>

// glibc's own entry points. `operator new` and Asio's allocators call the functions below.
// NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)
extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* block, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
}
// NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)

namespace {
std::atomic<std::uint64_t> allocated = 0;

void count_one() noexcept {
    allocated.fetch_add(1, std::memory_order_relaxed);
}
}  // namespace

extern "C" {

void* malloc(std::size_t size) {
    count_one();
    return __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) {
    count_one();
    return __libc_calloc(count, size);
}
void* realloc(void* block, std::size_t size) {
    count_one();
    return __libc_realloc(block, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
    count_one();
    return __libc_memalign(alignment, size);
}
}

std::uint64_t bench::allocation_count() noexcept {
    return allocated.load(std::memory_order_relaxed);
}
