#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace reprise::http {

/// The credentials of a client. Compare passwords in constant time where that matters.
struct basic_credentials {
    std::string username;
    std::string password;

    friend bool operator==(const basic_credentials&, const basic_credentials&) = default;
};

/// Returns the value of an Authorization field, for example "Basic dXNlcjpwYXNz". The user name
/// must not contain a colon, because a server could not find its end.
std::string make_basic_authorization(std::string_view username, std::string_view password);

/// Returns nothing if the value is not well-formed basic authorization. Ignores the case of the
/// scheme.
std::optional<basic_credentials> parse_basic_authorization(std::string_view value);

/// Returns the token of "Bearer <token>", or nothing if the scheme is different or the token is
/// missing.
std::optional<std::string_view> parse_bearer_authorization(std::string_view value) noexcept;

}  // namespace reprise::http
