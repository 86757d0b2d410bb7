#include <algorithm>
#include <charconv>
#include <cstdint>

#include <reprise/base/hex.hpp>
#include <reprise/wire/connection_string.hpp>

namespace reprise::wire {

namespace {

// Accepts four decimal numbers up to 255.
bool is_ipv4(std::string_view host) noexcept {
    for (int part = 0; part < 4; ++part) {
        const std::size_t digits = std::min(host.find_first_not_of("0123456789"), host.size());
        std::uint8_t number = 0;
        const auto result = std::from_chars(host.data(), host.data() + digits, number);
        if (digits == 0 || digits > 3 || result.ec != std::errc{}) {
            return false;
        }
        host.remove_prefix(digits);
        if (part < 3) {
            if (!host.starts_with('.')) {
                return false;
            }
            host.remove_prefix(1);
        }
    }
    return host.empty();
}

// Accepts groups of up to four hexadecimal digits, one `::`, an IPv4 suffix, and a zone after `%`.
bool is_ipv6(std::string_view host) noexcept {
    host = host.substr(0, host.find('%'));
    std::size_t groups = 0;
    bool has_gap = false;
    if (host.starts_with("::")) {
        has_gap = true;
        host.remove_prefix(2);
    }
    while (!host.empty()) {
        const std::size_t size = std::min(host.find(':'), host.size());
        const std::string_view group = host.substr(0, size);
        if (size == host.size() && group.find('.') != std::string_view::npos) {
            groups += 2;
            return is_ipv4(group) && (has_gap ? groups < 8 : groups == 8);
        }
        if (group.empty() || group.size() > 4 || !std::ranges::all_of(group, [](char each) {
                return base::parse_hex_digit(each).has_value();
            })) {
            return false;
        }
        ++groups;
        host.remove_prefix(size);
        if (host.starts_with("::")) {
            if (has_gap) {
                return false;
            }
            has_gap = true;
            host.remove_prefix(2);
        } else if (!host.empty()) {
            host.remove_prefix(1);
            if (host.empty()) {
                return false;
            }
        }
    }
    return has_gap ? groups < 8 : groups == 8;
}

}  // namespace

bool is_ip_address(std::string_view host) noexcept {
    return host.find(':') == std::string_view::npos ? is_ipv4(host) : is_ipv6(host);
}

}  // namespace reprise::wire
