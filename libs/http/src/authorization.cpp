#include <reprise/http/authorization.hpp>

#include <reprise/base/base64.hpp>
#include <reprise/http/message.hpp>

namespace reprise::http {

namespace {

// Returns what follows the scheme, without surrounding spaces, or nothing if the scheme is
// different.
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

std::string make_basic_authorization(std::string_view username, std::string_view password) {
    std::string pair(username);
    pair += ':';
    pair += password;
    return "Basic " + base::encode_base64(pair);
}

std::optional<basic_credentials> parse_basic_authorization(std::string_view value) {
    const std::optional<std::string_view> encoded = after_scheme(value, "Basic");
    if (!encoded) {
        return std::nullopt;
    }
    const std::optional<std::string> pair = base::decode_base64(*encoded);
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
