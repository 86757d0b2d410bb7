#pragma once

#include <cstdint>
#include <string>

namespace reprise::wire {

/// Byte 5 of a frame: the type of the value. A request may set a bit only if the server
/// acknowledged its HELLO feature on that connection.
enum class datatype : std::uint8_t {
    raw = 0x00,
    json = 0x01,    ///< HELLO 0x0b
    snappy = 0x02,  ///< the value is one raw Snappy block; HELLO 0x0a or 0x13
    xattr = 0x04,   ///< the value starts with an xattr section; HELLO 0x06
};

constexpr datatype operator|(datatype left, datatype right) noexcept {
    // NOLINTNEXTLINE(clang-analyzer-optin.core.EnumCastOutOfRange): flags add up
    return static_cast<datatype>(
        static_cast<std::uint8_t>(left) | static_cast<std::uint8_t>(right));
}
constexpr datatype operator&(datatype left, datatype right) noexcept {
    return static_cast<datatype>(
        static_cast<std::uint8_t>(left) & static_cast<std::uint8_t>(right));
}

/// Whether every bit of `bits` is set in `value`.
constexpr bool has(datatype value, datatype bits) noexcept {
    return (value & bits) == bits;
}

/// Returns "raw", "json", "json|snappy", and so on. Unknown bits appear as a hexadecimal number.
std::string to_string(datatype value);

}  // namespace reprise::wire
