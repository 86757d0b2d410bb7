#include "number_text.hpp"

#include <algorithm>
#include <cstdio>

namespace reprise::lab {

namespace {

void group_digits(std::string& digits) {
    for (std::size_t place = digits.size(); place > 3; place -= 3) {
        digits.insert(place - 3, 1, ',');
    }
}

[[nodiscard]] std::string without_idle_zeros(std::string text) {
    if (text.find('.') == std::string::npos) {
        return text;
    }
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') {
        text.pop_back();
    }
    return text;
}

}  // namespace

std::string grouped(std::uint64_t value) {
    std::string text = std::to_string(value);
    group_digits(text);
    return text;
}

std::string decimal(double value, int digits) {
    char text[64];
    // %f of the largest double would not fit, but nothing the lab counts is that large.
    const int size = std::snprintf(text, sizeof text, "%.*f", digits, value);
    std::string whole(text, static_cast<std::size_t>(size));
    const std::size_t point = std::min(whole.find('.'), whole.size());
    std::string before = whole.substr(0, point);
    group_digits(before);
    return before + whole.substr(point);
}

std::string percent(double share) {
    return decimal(share * 100.0, 1) + " %";
}

std::string seconds_text(duration value) {
    return without_idle_zeros(decimal(to_seconds(value), 3)) + " s";
}

std::string number_text(double value) {
    return without_idle_zeros(decimal(value, value < 10.0 ? 3 : 1));
}

std::string rate_text(double per_second) {
    return number_text(per_second) + "/s";
}

double to_seconds(duration value) noexcept {
    return std::chrono::duration<double>(value).count();
}

}  // namespace reprise::lab
