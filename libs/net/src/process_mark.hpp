#pragma once

#include <atomic>
#include <cstdint>

namespace reprise::net {

namespace detail {
inline std::atomic<std::uint32_t> fork_count{0};  // since watch_forks
}  // namespace detail

// Makes process_mark notice forks from now on, and returns it. If the system refuses, children are
// not detected; nothing else changes.
[[nodiscard]] std::uint32_t watch_forks() noexcept;

// Identifies the process among those forked from one another since watch_forks: the mark is
// constant within a process and differs in its children. Every call of the client reads it.
[[nodiscard]] inline std::uint32_t process_mark() noexcept {
    return detail::fork_count.load(std::memory_order_relaxed);
}

}  // namespace reprise::net
