#pragma once

#include <string>
#include <string_view>

#include <reprise/http/message.hpp>
#include <reprise/http/request_parser.hpp>

namespace reprise::sandbox::detail {

// Access to the control port. A browser must have opened it by a loopback name, so that a foreign
// site can neither reach it through a name of its own nor send requests from its pages; and every
// request needs the token.

// Why a request must be refused whatever its token is; empty: it need not be. Programs may omit
// Host and Origin; browsers do not.
std::string_view find_foreign_site(const http::request& request) noexcept;

// The token of a request: from `?token=` for the console's page, otherwise the bearer token; empty
// if there is none.
std::string_view token_of(const http::request& request) noexcept;

// The target without its query.
std::string_view path_of(const http::request& request) noexcept;

// Takes constant time, so that it does not reveal how much of a token is correct.
bool is_token(std::string_view given, const std::string& wanted) noexcept;

}  // namespace reprise::sandbox::detail
