#pragma once

#include <cstdint>

namespace bench {

// The number of heap blocks allocated so far by any thread of this program: new, malloc and the
// aligned forms. Only programs that link allocation_count.cpp count.
[[nodiscard]] std::uint64_t allocation_count() noexcept;

}  // namespace bench
