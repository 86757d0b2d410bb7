#include "system_entropy.hpp"

#include <algorithm>

#include <unistd.h>

namespace reprise::net {

bool system_entropy(std::span<std::byte> out) noexcept {
    constexpr std::size_t at_once_max = 256;  // the limit of one call
    while (!out.empty()) {
        const std::size_t size = std::min(out.size(), at_once_max);
        if (::getentropy(out.data(), size) != 0) {
            return false;
        }
        out = out.subspan(size);
    }
    return true;
}

}  // namespace reprise::net
