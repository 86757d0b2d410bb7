#pragma once

#include <cstdint>

namespace bench {

// Blocks taken from the heap so far, by any thread of this program: new, malloc and the aligned
// forms. Programs that link allocation_count.cpp count.
[[nodiscard]] std::uint64_t allocation_count() noexcept;

}  // namespace bench
