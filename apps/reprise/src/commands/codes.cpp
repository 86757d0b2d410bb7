#include "commands/codes.hpp"

#include <charconv>

#include "output/output.hpp"

namespace reprise::app {

std::optional<std::uint16_t> parse_status_code(std::string_view text) noexcept {
    int base = 10;
    if (text.starts_with("0x") || text.starts_with("0X")) {
        text.remove_prefix(2);
        base = 16;
    }
    std::uint16_t value = 0;
    const char* end = text.data() + text.size();
    const auto [stopped, error] = std::from_chars(text.data(), end, value, base);
    if (error != std::errc{} || stopped != end || text.empty()) {
        return std::nullopt;
    }
    return value;
}

std::string indented(std::string_view text) {
    std::string lines;
    const std::string wrapped = wrap(text, 92);
    for (std::size_t at = 0; at < wrapped.size();) {
        const std::size_t end = wrapped.find('\n', at);
        lines.append("    ").append(wrapped, at, end - at + 1);
        at = end + 1;
    }
    return lines;
}

std::string plain_name(std::string_view text) {
    std::string plain;
    for (const char letter : text) {
        if (letter != '_' && letter != '-' && letter != ' ') {
            plain.push_back(
                letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter);
        }
    }
    return plain;
}

}  // namespace reprise::app
