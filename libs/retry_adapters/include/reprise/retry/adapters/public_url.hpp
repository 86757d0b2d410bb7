#pragma once

/// URLs in logs and histories.

#include <algorithm>
#include <string>
#include <string_view>

namespace reprise::adapters {

/// `url` without user, password, query and fragment, which may hold secrets:
///
///     https://bob:secret@shop.example/orders?key=42   ->   https://shop.example/orders
[[nodiscard]] inline std::string public_url(std::string_view url) {
    url = url.substr(0, std::min(url.find('?'), url.find('#')));
    const std::size_t scheme = url.find("://");
    const std::size_t host = scheme == std::string_view::npos ? 0 : scheme + 3;
    // A user may contain anything but a slash.
    const std::size_t user = url.substr(0, url.find('/', host)).rfind('@');
    std::string text(url.substr(0, host));
    text += url.substr(user == std::string_view::npos ? host : std::max(host, user + 1));
    return text;
}

}  // namespace reprise::adapters
