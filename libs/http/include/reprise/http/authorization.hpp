#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace reprise::http {

// What a client logs in with. Compare passwords in constant time where that matters.
struct basic_credentials {
    std::string username;
    std::string password;

    friend bool operator==(const basic_credentials&, const basic_credentials&) = default;
};

// The value of an Authorization field: "Basic dXNlcjpwYXNz". The user name must not contain a colon
// (a server could not tell where it ends).
std::string make_basic_authorization(std::string_view username, std::string_view password);

// Empty if the value is not well-formed basic authorization. The scheme's case does not matter.
std::optional<basic_credentials> parse_basic_authorization(std::string_view value);

// The token of "Bearer <token>". Empty if it is another scheme or there is no token.
std::optional<std::string_view> parse_bearer_authorization(std::string_view value) noexcept;

}  // namespace reprise::http
