#pragma once

#include <cstddef>
#include <span>

namespace reprise::net {

// Fills `out` with bytes from the operating system's generator. Returns false if it has none.
[[nodiscard]] bool system_entropy(std::span<std::byte> out) noexcept;

}  // namespace reprise::net
