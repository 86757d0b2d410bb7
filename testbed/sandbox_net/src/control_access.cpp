#include "control_access.hpp"

#include <openssl/crypto.h>

#include <algorithm>

#include <reprise/http/authorization.hpp>

namespace reprise::sandbox::detail {

namespace {

// "127.0.0.1:8080" or "localhost:8080", with or without a port: a tunnel may have another one.
bool is_loopback_name(std::string_view host) noexcept {
    const std::size_t colon = host.find(':');
    const std::string_view name = host.substr(0, colon);
    const std::string_view port =
        colon == std::string_view::npos ? std::string_view{} : host.substr(colon + 1);
    const bool is_number = std::ranges::all_of(port, [](char c) { return c >= '0' && c <= '9'; });
    return (name == "127.0.0.1" || name == "localhost") && is_number;
}

}  // namespace

std::string_view find_foreign_site(const http::request& request) noexcept {
    const auto host = http::find_header(request.headers, "Host");
    if (host && !is_loopback_name(*host)) {
        return "wrong host: open the link that the sandbox printed";
    }
    const auto origin = http::find_header(request.headers, "Origin");
    constexpr std::string_view scheme = "http://";
    const bool is_own =
        origin && host && origin->starts_with(scheme) && origin->substr(scheme.size()) == *host;
    return origin && !is_own ? "requests of other sites are refused" : "";
}

std::string_view token_of(const http::request& request) noexcept {
    constexpr std::string_view page = "/console?token=";
    const std::string_view target = request.target;
    if (target.starts_with(page)) {
        return target.substr(page.size());
    }
    const auto authorization = http::find_header(request.headers, "Authorization").value_or("");
    return http::parse_bearer_authorization(authorization).value_or("");
}

std::string_view path_of(const http::request& request) noexcept {
    return std::string_view(request.target).substr(0, request.target.find('?'));
}

bool is_token(std::string_view given, const std::string& wanted) noexcept {
    return given.size() == wanted.size() &&
           CRYPTO_memcmp(given.data(), wanted.data(), wanted.size()) == 0;
}

}  // namespace reprise::sandbox::detail
