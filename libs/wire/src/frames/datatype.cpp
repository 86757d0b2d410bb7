#include <reprise/wire/datatype.hpp>

#include <string_view>

#include <reprise/base/hex.hpp>

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
        add("0x" + base::to_hex(unknown, 2));
    }
    return text;
}

}  // namespace reprise::wire
