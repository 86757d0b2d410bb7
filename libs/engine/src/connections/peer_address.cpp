#include "connections/peer_address.hpp"

#include <charconv>
#include <cstdint>

namespace reprise::engine {
namespace {

// Whether it is four decimal numbers, the first of which is 127.
bool is_loopback_v4(std::string_view address) noexcept {
    for (int part = 0; part < 4; ++part) {
        std::uint8_t number = 0;
        const char* const end = address.data() + address.size();
        const auto [after, problem] = std::from_chars(address.data(), end, number);
        if (problem != std::errc{} || (part == 0 && number != 127)) {
            return false;
        }
        address.remove_prefix(static_cast<std::size_t>(after - address.data()));
        if (part < 3 && !address.starts_with('.')) {
            return false;
        }
        address.remove_prefix(part < 3 ? 1 : 0);
    }
    return address.empty();
}

}  // namespace

bool is_loopback(std::string_view address) noexcept {
    constexpr std::string_view mapped = "::ffff:";
    if (address.starts_with(mapped)) {
        address.remove_prefix(mapped.size());
        return is_loopback_v4(address);
    }
    return address == "::1" || is_loopback_v4(address);
}

}  // namespace reprise::engine
