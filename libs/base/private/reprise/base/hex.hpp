#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace reprise::base {

enum class hex_case : std::uint8_t { lower, upper };

/// Returns the lowest four bits of a number as a hexadecimal digit.
constexpr char to_hex_digit(std::uint64_t number, hex_case letters = hex_case::lower) noexcept {
    constexpr std::string_view lower = "0123456789abcdef";
    constexpr std::string_view upper = "0123456789ABCDEF";
    return (letters == hex_case::lower ? lower : upper)[number & 15U];
}

/// Returns the value of a hexadecimal digit in either case, or nothing if it is not one.
constexpr std::optional<unsigned> parse_hex_digit(char digit) noexcept {
    if (digit >= '0' && digit <= '9') {
        return static_cast<unsigned>(digit - '0');
    }
    if (digit >= 'a' && digit <= 'f') {
        return static_cast<unsigned>(digit - 'a') + 10U;
    }
    if (digit >= 'A' && digit <= 'F') {
        return static_cast<unsigned>(digit - 'A') + 10U;
    }
    return std::nullopt;
}

/// Appends the lowest `digit_count` hexadecimal digits of a number, with leading zeros.
void append_hex(
    std::string& out, std::uint64_t number, std::size_t digit_count,
    hex_case letters = hex_case::lower);

/// Returns the same as a new string.
std::string to_hex(
    std::uint64_t number, std::size_t digit_count, hex_case letters = hex_case::lower);

/// Returns lower-case digits without leading zeros, or "0" for zero.
std::string to_shortest_hex(std::uint64_t number);

/// Returns two lower-case digits for each byte.
std::string to_hex(std::span<const std::byte> bytes);

/// Parses digits in either case and nothing else: no sign, no space, no `0x`. Returns nothing if
/// the text is empty or malformed, or the number has more than 64 bits.
std::optional<std::uint64_t> parse_hex(std::string_view text) noexcept;

}  // namespace reprise::base
