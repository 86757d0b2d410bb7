#pragma once

#include <cstddef>
#include <span>

namespace reprise::net {

// Fills with bytes of the operating system's generator. False: it has none to give.
[[nodiscard]] bool system_entropy(std::span<std::byte> out) noexcept;

}  // namespace reprise::net
