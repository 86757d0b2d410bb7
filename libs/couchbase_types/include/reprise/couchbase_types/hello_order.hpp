#pragma once

#include <cstdint>

namespace reprise::couchbase {

/// When a new connection sends HELLO.
enum class hello_order : std::uint8_t {
    first,                 ///< As the first command.
    after_authentication,  ///< For old servers that answer it only then.
};

}  // namespace reprise::couchbase
