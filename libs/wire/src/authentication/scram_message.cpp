#include "authentication/scram_message.hpp"

#include <algorithm>

namespace reprise::wire::detail {

std::unexpected<sasl_error> sasl_failure(sasl_errc code, std::string detail) {
    return std::unexpected(sasl_error{code, std::move(detail)});
}

// A value may contain anything but a comma, even `=`, which base64 uses.
std::expected<scram_attributes, sasl_error> scram_attributes::parse(std::string_view message) {
    if (message.size() > scram_message_size_max) {
        return sasl_failure(sasl_errc::malformed_message, "message too long");
    }
    scram_attributes attributes;
    while (true) {
        const std::size_t end = message.find(',');
        const std::string_view part = message.substr(0, end);
        const bool is_attribute =
            part.size() >= 2 && part[1] == '=' &&
            ((part[0] >= 'a' && part[0] <= 'z') || (part[0] >= 'A' && part[0] <= 'Z'));
        if (!is_attribute) {
            return sasl_failure(sasl_errc::malformed_message, "not a list of attributes");
        }
        if (attributes.find(part[0])) {
            return sasl_failure(sasl_errc::repeated_attribute, std::string(1, part[0]) + "=");
        }
        attributes.list_.emplace_back(part[0], part.substr(2));
        if (end == std::string_view::npos) {
            return attributes;
        }
        message.remove_prefix(end + 1);
    }
}

std::optional<std::string_view> scram_attributes::find(char name) const noexcept {
    for (const auto& [each, content] : list_) {
        if (each == name) {
            return content;
        }
    }
    return std::nullopt;
}

std::expected<void, sasl_error> scram_attributes::allow_only(std::string_view allowed) const {
    for (const auto& [name, content] : list_) {
        if (allowed.find(name) == std::string_view::npos) {
            return sasl_failure(sasl_errc::unknown_attribute, std::string(1, name) + "=");
        }
    }
    return {};
}

std::string escape_username(std::string_view name) {
    std::string out;
    for (const char each : name) {
        if (each == ',') {
            out += "=2C";
        } else if (each == '=') {
            out += "=3D";
        } else {
            out += each;
        }
    }
    return out;
}

// Accepts exactly the two escapes that escape_username writes, in upper case.
std::expected<std::string, sasl_error> unescape_username(std::string_view text) {
    std::string out;
    for (std::size_t index = 0; index < text.size(); ++index) {
        if (text[index] != '=') {
            out += text[index];
            continue;
        }
        const std::string_view escape = text.substr(index, 3);
        if (escape == "=2C") {
            out += ',';
        } else if (escape == "=3D") {
            out += '=';
        } else {
            return sasl_failure(sasl_errc::username_invalid, "bad escape");
        }
        index += 2;
    }
    if (out.empty() || out.find('\0') != std::string::npos) {
        return sasl_failure(sasl_errc::username_invalid, "empty or contains a NUL");
    }
    return out;
}

bool is_nonce(std::string_view text) noexcept {
    // The RFC excludes spaces, but the C++ SDK and the SDKs built on it send them.
    return !text.empty() && std::ranges::all_of(text, [](char each) {
        return each >= ' ' && each <= '~' && each != ',';
    });
}

}  // namespace reprise::wire::detail
