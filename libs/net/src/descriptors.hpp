#pragma once

namespace reprise::net {

// Whether this process, or the system, has no file descriptor left. Tries it out: libraries that
// could not open a socket do not always say why.
[[nodiscard]] bool is_out_of_descriptors() noexcept;

}  // namespace reprise::net
