#include <reprise/wire/datatype.hpp>

#include <array>
#include <string_view>

namespace reprise::wire {

std::string to_string(datatype value) {
    if (value == datatype::raw) {
        return "raw";
    }
    std::string text;
    const auto add = [&text](std::string_view part) {
        if (!text.empty()) {
            text += '|';
        }
        text += part;
    };
    if (has(value, datatype::json)) {
        add("json");
    }
    if (has(value, datatype::snappy)) {
        add("snappy");
    }
    if (has(value, datatype::xattr)) {
        add("xattr");
    }
    const auto unknown = static_cast<unsigned>(static_cast<std::uint8_t>(value) & 0xf8u);
    if (unknown != 0) {
        constexpr std::string_view digits = "0123456789abcdef";
        const std::array<char, 4> hex{'0', 'x', digits[unknown >> 4], digits[unknown & 0x0f]};
        add({hex.data(), hex.size()});
    }
    return text;
}

}  // namespace reprise::wire
