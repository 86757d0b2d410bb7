#include <reprise/base/hex.hpp>

#include <bit>

namespace reprise::base {

void append_hex(std::string& out, std::uint64_t number, std::size_t digit_count, hex_case letters) {
    for (std::size_t place = digit_count; place-- > 0;) {
        out += to_hex_digit(place < 16 ? number >> (4 * place) : 0, letters);
    }
}

std::string to_hex(std::uint64_t number, std::size_t digit_count, hex_case letters) {
    std::string out;
    out.reserve(digit_count);
    append_hex(out, number, digit_count, letters);
    return out;
}

std::string to_shortest_hex(std::uint64_t number) {
    const auto bit_count = static_cast<std::size_t>(std::bit_width(number | 1U));
    return to_hex(number, (bit_count + 3) / 4);
}

std::string to_hex(std::span<const std::byte> bytes) {
    std::string out;
    out.reserve(bytes.size() * 2);
    for (const std::byte each : bytes) {
        append_hex(out, std::to_integer<std::uint64_t>(each), 2);
    }
    return out;
}

std::optional<std::uint64_t> parse_hex(std::string_view text) noexcept {
    if (text.empty()) {
        return std::nullopt;
    }
    std::uint64_t number = 0;
    for (const char each : text) {
        const std::optional<unsigned> digit = parse_hex_digit(each);
        if (!digit || number >> 60U != 0) {
            return std::nullopt;
        }
        number = (number << 4U) | *digit;
    }
    return number;
}

}  // namespace reprise::base
