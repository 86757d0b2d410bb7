#pragma once

#include <cstdint>
#include <string>

namespace reprise::wire {

// Byte 5 of a frame: what the value is. A bit may be set in a request only if its HELLO feature was
// acknowledged on that connection.
enum class datatype : std::uint8_t {
    raw = 0x00,
    json = 0x01,    // HELLO 0x0b
    snappy = 0x02,  // value is one raw snappy block; HELLO 0x0a or 0x13
    xattr = 0x04,   // value starts with an xattr section; HELLO 0x06
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

// True when every bit of `bits` is set in `value`.
constexpr bool has(datatype value, datatype bits) noexcept {
    return (value & bits) == bits;
}

// "raw", "json", "json|snappy", ...; unknown bits as a hex number.
std::string to_string(datatype value);

}  // namespace reprise::wire
