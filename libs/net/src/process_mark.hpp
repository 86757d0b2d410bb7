#pragma once

#include <cstdint>

namespace reprise::net {

// Names the process among those that were forked from one another since the first call: equal in
// one process, different in its children. No system call after the first one.
[[nodiscard]] std::uint32_t process_mark() noexcept;

}  // namespace reprise::net
