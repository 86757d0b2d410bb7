#pragma once

#include <string_view>

namespace reprise::engine {

// Whether a numeric address stays on this machine: 127.0.0.0/8, ::1, or an IPv4-mapped loopback
// address. Returns false for anything else, including host names.
[[nodiscard]] bool is_loopback(std::string_view address) noexcept;

}  // namespace reprise::engine
