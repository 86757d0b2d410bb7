#pragma once

#include <cstdint>

namespace reprise::net {

// Identifies the process among those forked from one another since the first call: the mark is
// constant within a process and differs in its children. Only the first call makes a system call.
[[nodiscard]] std::uint32_t process_mark() noexcept;

}  // namespace reprise::net
