#include <algorithm>

#include <reprise/http/message.hpp>

namespace reprise::http {

namespace {

constexpr char to_lower(char letter) noexcept {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter + ('a' - 'A')) : letter;
}

}  // namespace

bool equal_ignoring_case(std::string_view left, std::string_view right) noexcept {
    return std::ranges::equal(left, right, {}, to_lower, to_lower);
}

std::optional<std::string_view> find_header(
    const header_list& headers, std::string_view name) noexcept {
    for (const header& field : headers) {
        if (equal_ignoring_case(field.name, name)) {
            return field.value;
        }
    }
    return std::nullopt;
}

std::optional<std::string_view> find_content_encoding(const header_list& headers) noexcept {
    for (const header& field : headers) {
        if (equal_ignoring_case(field.name, "content-encoding") && !field.value.empty() &&
            !equal_ignoring_case(field.value, "identity")) {
            return field.value;
        }
    }
    return std::nullopt;
}

}  // namespace reprise::http
