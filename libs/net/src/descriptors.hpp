#pragma once

namespace reprise::net {

// Whether this process or the system has run out of file descriptors. It tries to open one, because
// libraries that fail to open a socket do not always report why.
[[nodiscard]] bool is_out_of_descriptors() noexcept;

}  // namespace reprise::net
