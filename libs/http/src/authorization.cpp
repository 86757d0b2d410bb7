#include <array>
#include <cstddef>
#include <cstdint>

#include <reprise/http/authorization.hpp>
#include <reprise/http/message.hpp>

namespace reprise::http {

namespace {

constexpr std::string_view base64_alphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

// What follows the scheme's name, without blanks around it; empty if the scheme is another one.
std::optional<std::string_view> after_scheme(
    std::string_view value, std::string_view scheme) noexcept {
    if (value.size() <= scheme.size() || value[scheme.size()] != ' ' ||
        !equal_ignoring_case(value.substr(0, scheme.size()), scheme)) {
        return std::nullopt;
    }
    value.remove_prefix(scheme.size());
    while (value.starts_with(' ')) {
        value.remove_prefix(1);
    }
    while (value.ends_with(' ')) {
        value.remove_suffix(1);
    }
    if (value.empty()) {
        return std::nullopt;
    }
    return value;
}

}  // namespace

std::string encode_base64(std::string_view bytes) {
    std::string out;
    out.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        std::uint32_t group = 0;
        const std::size_t count = bytes.size() - i < 3 ? bytes.size() - i : 3;
        for (std::size_t j = 0; j < 3; ++j) {
            group = group << 8 | (j < count ? static_cast<unsigned char>(bytes[i + j]) : 0u);
        }
        for (std::size_t j = 0; j < 4; ++j) {
            out += j <= count ? base64_alphabet[group >> (6 * (3 - j)) & 63] : '=';
        }
    }
    return out;
}

std::optional<std::string> decode_base64(std::string_view text) {
    if (text.size() % 4 != 0) {
        return std::nullopt;
    }
    std::string out;
    out.reserve(text.size() / 4 * 3);
    for (std::size_t i = 0; i < text.size(); i += 4) {
        std::string_view group = text.substr(i, 4);
        std::size_t padding = 0;
        if (i + 4 == text.size()) {
            padding = group.ends_with("==") ? 2 : group.ends_with('=') ? 1 : 0;
        }
        std::uint32_t bits = 0;
        for (std::size_t j = 0; j < 4; ++j) {
            const std::size_t digit = j < 4 - padding ? base64_alphabet.find(group[j]) : 0;
            if (digit == std::string_view::npos) {
                return std::nullopt;
            }
            bits = bits << 6 | static_cast<std::uint32_t>(digit);
        }
        for (std::size_t j = 0; j < 3 - padding; ++j) {
            out += static_cast<char>(bits >> (8 * (2 - j)) & 255);
        }
    }
    return out;
}

std::string make_basic_authorization(std::string_view username, std::string_view password) {
    std::string pair(username);
    pair += ':';
    pair += password;
    return "Basic " + encode_base64(pair);
}

std::optional<basic_credentials> parse_basic_authorization(std::string_view value) {
    const std::optional<std::string_view> encoded = after_scheme(value, "Basic");
    if (!encoded) {
        return std::nullopt;
    }
    const std::optional<std::string> pair = decode_base64(*encoded);
    if (!pair) {
        return std::nullopt;
    }
    const std::size_t colon = pair->find(':');
    if (colon == std::string::npos) {
        return std::nullopt;
    }
    return basic_credentials{pair->substr(0, colon), pair->substr(colon + 1)};
}

std::optional<std::string_view> parse_bearer_authorization(std::string_view value) noexcept {
    return after_scheme(value, "Bearer");
}

}  // namespace reprise::http
