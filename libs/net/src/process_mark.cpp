#include "process_mark.hpp"

#include <pthread.h>

namespace reprise::net {
namespace {

void count_fork() {
    detail::fork_count.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

std::uint32_t watch_forks() noexcept {
    static const int status = ::pthread_atfork(nullptr, nullptr, &count_fork);
    static_cast<void>(status);
    return process_mark();
}

}  // namespace reprise::net
