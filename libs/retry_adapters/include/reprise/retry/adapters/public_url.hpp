#pragma once

/// URLs in logs and histories.

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include <reprise/retry/detail/compiler.hpp>  // Refuses to be mixed with the single header.

namespace reprise::adapters {

namespace detail {

/// True for "bob:pa" in "https://bob:pa/ss@shop": a user with a part of a password.
[[nodiscard]] constexpr bool has_bad_port(std::string_view host) noexcept {
    const std::size_t colon = host.rfind(':');
    return colon != std::string_view::npos && !host.ends_with(']') &&
           host.find_first_not_of("0123456789", colon + 1) != std::string_view::npos;
}

}  // namespace detail

/// `url` without user, password, query and fragment, which may hold secrets:
///
///     https://bob:secret@shop.example/orders?key=42   ->   https://shop.example/orders
///
/// A URL inside the path (of a proxy, for example) loses its user and password, too, also if it has
/// only one slash after its scheme.
///
/// The text ends where a host with a port that is not a number would begin: that is no URL, but
/// perhaps a password with a '/', a '?' or a '#' that is not percent-encoded. For the same reason
/// it ends before the host that follows a password if the rest of the URL has another '@'.
[[nodiscard]] inline std::string public_url(std::string_view url) {
    const std::string_view whole = url;
    url = url.substr(0, std::min(url.find('?'), url.find('#')));
    // libcurl takes any number of slashes after the scheme, and a URL without a scheme.
    const std::size_t scheme = url.find_first_of(":/@");
    const bool has_scheme = scheme != std::string_view::npos && url.substr(scheme, 2) == ":/";
    std::size_t begin = has_scheme ? scheme + 1 : 0;
    std::string text(url.substr(0, begin));
    bool has_host = false;
    for (;;) {
        const std::size_t end = std::min(url.find('/', begin), url.size());
        std::string_view part = url.substr(begin, end - begin);
        if (!has_host || text.ends_with("//") || text.ends_with(":/")) {
            const std::size_t user_end = part.rfind('@');
            const bool has_user = user_end != std::string_view::npos;
            const bool has_password =
                has_user && part.substr(0, user_end).find(':') != std::string_view::npos;
            part.remove_prefix(has_user ? user_end + 1 : 0);
            if (detail::has_bad_port(part) ||
                (has_password && whole.find('@', end) != std::string_view::npos)) {
                return text;
            }
        }
        has_host = has_host || !part.empty();
        text += part;
        if (end == url.size()) {
            return text;
        }
        text += '/';
        begin = end + 1;
    }
}

}  // namespace reprise::adapters
