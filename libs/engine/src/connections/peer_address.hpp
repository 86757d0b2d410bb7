#pragma once

#include <string_view>

namespace reprise::engine {

// Whether a numeric address never leaves this machine: 127.0.0.0/8, ::1, and the former written as
// IPv6. Anything else, names included, is false.
[[nodiscard]] bool is_loopback(std::string_view address) noexcept;

}  // namespace reprise::engine
