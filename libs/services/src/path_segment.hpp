#pragma once

#include <cstddef>
#include <string_view>

// Texts that must not appear between two slashes of a request's path.

namespace reprise::services::detail {

// `.` and `..` navigate in a path however they are encoded, so they cannot be names in one.
constexpr bool is_dot_segment(std::string_view name) noexcept {
    return name == "." || name == "..";
}

// The same for a whole target, including percent-encoded dots.
constexpr bool has_dot_segment(std::string_view target) noexcept {
    const std::string_view path = target.substr(0, target.find_first_of("?#"));
    std::size_t dots = 0;
    bool is_dots = true;  // this segment has only dots so far
    for (std::size_t at = 0; at <= path.size(); ++at) {
        const std::string_view escape = path.substr(at < path.size() ? at : 0, 3);
        if (at == path.size() || path[at] == '/') {
            if (is_dots && (dots == 1 || dots == 2)) {
                return true;
            }
            dots = 0;
            is_dots = true;
        } else if (path[at] == '.') {
            ++dots;
        } else if (escape == "%2e" || escape == "%2E") {
            ++dots;
            at += 2;
        } else {
            is_dots = false;
        }
    }
    return false;
}

}  // namespace reprise::services::detail
