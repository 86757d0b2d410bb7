#include <reprise/base/duration_text.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>

namespace reprise::base {

namespace {

struct duration_unit {
    std::string_view name;
    std::int64_t nanoseconds;
};

// Longer names come first, so that "ms" is not read as "m".
constexpr std::array<duration_unit, 7> duration_units{{
    {"ns", 1},
    {"us", 1'000},
    {"\xc2\xb5s", 1'000},  // micro sign
    {"ms", 1'000'000},
    {"s", 1'000'000'000},
    {"m", 60'000'000'000},
    {"h", 3'600'000'000'000},
}};

constexpr double duration_max_ns = 366.0 * 86400e9;
constexpr std::int64_t duration_max_ms = std::numeric_limits<std::int32_t>::max();

// Removes one part such as "2.5s" from the front of `text`. Returns nanoseconds.
std::optional<double> take_duration_part(std::string_view& text) noexcept {
    const std::size_t digits = std::min(text.find_first_not_of("0123456789."), text.size());
    double number = 0;
    const auto result =
        std::from_chars(text.data(), text.data() + digits, number, std::chars_format::fixed);
    if (digits == 0 || result.ec != std::errc{} || result.ptr != text.data() + digits) {
        return std::nullopt;
    }
    text.remove_prefix(digits);
    for (const duration_unit& unit : duration_units) {
        if (text.starts_with(unit.name)) {
            text.remove_prefix(unit.name.size());
            return number * static_cast<double>(unit.nanoseconds);
        }
    }
    return std::nullopt;
}

}  // namespace

std::optional<std::chrono::nanoseconds> parse_duration_text(std::string_view text) noexcept {
    if (text.empty()) {
        return std::nullopt;
    }
    double nanoseconds = 0;
    while (!text.empty()) {
        const auto part = take_duration_part(text);
        if (!part || *part > duration_max_ns) {
            return std::nullopt;
        }
        nanoseconds += *part;
    }
    if (nanoseconds > duration_max_ns) {
        return std::nullopt;
    }
    return std::chrono::nanoseconds(std::llround(nanoseconds));
}

std::optional<std::chrono::milliseconds> parse_milliseconds(std::string_view text) noexcept {
    if (!text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos) {
        std::int64_t bare = 0;
        const auto result = std::from_chars(text.data(), text.data() + text.size(), bare);
        if (result.ec != std::errc{} || bare > duration_max_ms) {
            return std::nullopt;
        }
        return std::chrono::milliseconds(bare);
    }
    const auto nanoseconds = parse_duration_text(text);
    if (!nanoseconds) {
        return std::nullopt;
    }
    const double milliseconds = static_cast<double>(nanoseconds->count()) / 1e6;
    if (milliseconds > static_cast<double>(duration_max_ms) ||
        (milliseconds > 0 && milliseconds < 1)) {
        return std::nullopt;
    }
    return std::chrono::milliseconds(std::llround(milliseconds));
}

}  // namespace reprise::base
