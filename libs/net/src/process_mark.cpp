#include "process_mark.hpp"

#include <atomic>

#include <pthread.h>

namespace reprise::net {
namespace {

std::atomic<std::uint32_t> fork_count{0};

void count_fork() {
    fork_count.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

std::uint32_t process_mark() noexcept {
    // If registration fails, children are not detected; nothing else changes.
    static const int status = ::pthread_atfork(nullptr, nullptr, &count_fork);
    static_cast<void>(status);
    return fork_count.load(std::memory_order_relaxed);
}

}  // namespace reprise::net
