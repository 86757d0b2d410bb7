#pragma once

#include <cstdint>

namespace reprise::engine {

// When a new connection says HELLO.
enum class hello_order : std::uint8_t {
    first,                 // the first command
    after_authentication,  // for old servers that answer it only then
};

}  // namespace reprise::engine
