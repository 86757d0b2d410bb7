#include <reprise/services/go_duration.hpp>

#include <array>
#include <cstdint>
#include <limits>

namespace reprise::services {

namespace {

struct go_unit {
    std::string_view name;
    std::uint64_t nanoseconds;
};

// Longer names come first, because "ms" starts with "m".
constexpr auto go_units = std::to_array<go_unit>({
    {"ns", 1},
    {"us", 1'000},
    {"\xc2\xb5s", 1'000},  // the micro sign
    {"\xce\xbcs", 1'000},  // the Greek letter
    {"ms", 1'000'000},
    {"s", 1'000'000'000},
    {"m", 60'000'000'000},
    {"h", 3'600'000'000'000},
});

constexpr std::uint64_t go_duration_most =
    static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());

constexpr bool is_go_digit(std::string_view text) noexcept {
    return !text.empty() && text.front() >= '0' && text.front() <= '9';
}

const go_unit* take_go_unit(std::string_view& text) noexcept {
    for (const go_unit& unit : go_units) {
        if (text.starts_with(unit.name)) {
            text.remove_prefix(unit.name.size());
            return &unit;
        }
    }
    return nullptr;
}

// Reads one number with its unit, for example "30.5s". Returns false if there is none or it is too
// large.
bool take_go_part(std::string_view& text, std::uint64_t& sum) noexcept {
    bool has_digits = false;
    std::uint64_t whole = 0;
    for (; is_go_digit(text); text.remove_prefix(1), has_digits = true) {
        const auto digit = static_cast<std::uint64_t>(text.front() - '0');
        if (whole > (go_duration_most - digit) / 10) {
            return false;
        }
        whole = whole * 10 + digit;
    }
    // Digits past the 15th are below a nanosecond even for hours.
    std::uint64_t fraction = 0;
    std::uint64_t scale = 1;
    if (text.starts_with('.')) {
        text.remove_prefix(1);
        for (; is_go_digit(text); text.remove_prefix(1), has_digits = true) {
            if (scale < 1'000'000'000'000'000) {
                fraction = fraction * 10 + static_cast<std::uint64_t>(text.front() - '0');
                scale *= 10;
            }
        }
    }
    const go_unit* const unit = has_digits ? take_go_unit(text) : nullptr;
    if (unit == nullptr || whole > go_duration_most / unit->nanoseconds) {
        return false;
    }
    const auto rest = static_cast<std::uint64_t>(
        static_cast<long double>(fraction) * static_cast<long double>(unit->nanoseconds) /
        static_cast<long double>(scale));
    const std::uint64_t part = whole * unit->nanoseconds;
    if (part > go_duration_most - sum || rest > go_duration_most - sum - part) {
        return false;
    }
    sum += part + rest;
    return true;
}

}  // namespace

std::optional<std::chrono::nanoseconds> parse_go_duration(std::string_view text) noexcept {
    const bool is_negative = text.starts_with('-');
    if (is_negative || text.starts_with('+')) {
        text.remove_prefix(1);
    }
    if (text == "0") {
        return std::chrono::nanoseconds(0);
    }
    if (text.empty()) {
        return std::nullopt;
    }
    std::uint64_t sum = 0;
    while (!text.empty()) {
        if (!take_go_part(text, sum)) {
            return std::nullopt;
        }
    }
    const auto length = static_cast<std::int64_t>(sum);
    return std::chrono::nanoseconds(is_negative ? -length : length);
}

std::string to_millisecond_text(std::chrono::milliseconds duration) {
    return std::to_string(duration.count()) + "ms";
}

}  // namespace reprise::services
