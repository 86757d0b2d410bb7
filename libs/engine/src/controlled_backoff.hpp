#pragma once

#include <cstdint>

#include <reprise/retry/time.hpp>

namespace reprise::engine {

// The delay for reasons that are always retried, by the number of earlier retries: 1, 10, 50, 100,
// 500, then 1000 ms (RFC 0049).
[[nodiscard]] duration controlled_backoff(std::uint32_t attempts) noexcept;

}  // namespace reprise::engine
