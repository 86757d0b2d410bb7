#include "http_services/http_texts.hpp"

#include <algorithm>
#include <charconv>

#include <reprise/base/percent_encoding.hpp>

namespace reprise::sandbox::detail {

std::string_view form_fields::find(std::string_view name) const noexcept {
    for (const auto& [field, value] : fields) {
        if (field == name) {
            return value;
        }
    }
    return {};
}

form_fields parse_form(std::string_view body) {
    form_fields form;
    while (!body.empty()) {
        const std::string_view pair = body.substr(0, body.find('&'));
        body.remove_prefix(std::min(pair.size() + 1, body.size()));
        if (pair.empty()) {
            continue;  // some clients begin or end with an ampersand
        }
        const std::size_t sign = pair.find('=');
        std::string value(sign == std::string_view::npos ? "" : pair.substr(sign + 1));
        std::ranges::replace(value, '+', ' ');
        form.fields.emplace_back(
            base::percent_decode_leniently(pair.substr(0, sign)),
            base::percent_decode_leniently(value));
    }
    return form;
}

std::optional<std::int32_t> parse_int32(std::string_view text) noexcept {
    std::int32_t number = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    return error == std::errc{} && stop == end && !text.empty() ? std::optional(number)
                                                                : std::nullopt;
}

std::vector<std::string> target_parts(std::string_view target) {
    std::vector<std::string> parts;
    target = target.substr(0, target.find('?'));
    while (!target.empty()) {
        target.remove_prefix(1);
        const std::size_t slash = std::min(target.find('/'), target.size());
        if (slash > 0) {
            parts.push_back(base::percent_decode_leniently(target.substr(0, slash)));
        }
        target.remove_prefix(slash);
    }
    return parts;
}

}  // namespace reprise::sandbox::detail
