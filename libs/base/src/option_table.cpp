#include <reprise/base/option_table.hpp>

#include <charconv>

#include <reprise/base/duration_text.hpp>

namespace reprise::base {

namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

std::string to_text(nanoseconds value) {
    if (value % std::chrono::days{1} == nanoseconds::zero()) {
        return std::to_string(std::chrono::floor<std::chrono::days>(value).count()) + " days";
    }
    if (value % seconds{1} == nanoseconds::zero()) {
        return std::to_string(std::chrono::floor<seconds>(value).count()) + "s";
    }
    return std::to_string(std::chrono::floor<milliseconds>(value).count()) + "ms";
}

std::string find_duration_error(const option_facts& option, nanoseconds value) {
    if (value.count() > option.max) {
        return "must be at most " + to_text(nanoseconds(option.max));
    }
    if (value.count() >= option.min) {
        return "";
    }
    if (option.min == 0) {
        return "must not be negative";
    }
    return option.min == 1 ? "must be above zero"
                           : "must be at least " + to_text(nanoseconds(option.min));
}

std::string find_size_error(const option_facts& option, std::size_t size) {
    if (size < static_cast<std::uint64_t>(option.min)) {
        return "must not be empty";
    }
    return size > static_cast<std::uint64_t>(option.max)
               ? "must be at most " + std::to_string(option.max) + " bytes"
               : "";
}

std::unexpected<std::string> refuse_text(std::string_view text, std::string_view complaint) {
    return std::unexpected("'" + std::string(text) + "' is " + std::string(complaint));
}

std::expected<option_value, std::string> parse_flag(
    const option_facts& option, std::string_view text) {
    const bool has_words = !option.true_word.empty();
    if (text == "true" || text == "1" || (has_words && text == option.true_word)) {
        return true;
    }
    if (text == "false" || text == "0" || (has_words && text == option.false_word)) {
        return false;
    }
    return refuse_text(
        text, has_words ? "neither " + std::string(option.false_word) + " nor " +
                              std::string(option.true_word)
                        : "neither true nor false");
}

std::expected<option_value, std::string> parse_count(
    const option_facts& option, std::string_view text) {
    std::uint64_t count = 0;
    const auto result = std::from_chars(text.data(), text.data() + text.size(), count);
    if (text.empty() || result.ec != std::errc{} || result.ptr != text.data() + text.size()) {
        return refuse_text(text, "not a whole number");
    }
    if (count == 0 && option.zero_is_max) {
        count = static_cast<std::uint64_t>(option.max);
    }
    return count;
}

std::expected<option_value, std::string> parse_value(
    const option_facts& option, std::string_view text) {
    switch (option.kind) {
        case option_kind::flag:
            return parse_flag(option, text);
        case option_kind::count:
            return parse_count(option, text);
        case option_kind::duration:
            if (const auto parsed = parse_milliseconds(text)) {
                return nanoseconds(*parsed);
            }
            return refuse_text(text, "not a duration such as 2500, 2.5s or 100ms");
        case option_kind::text:
            if (!text.empty()) {
                return text;
            }
            return refuse_text(text, "empty");
        case option_kind::object:
            break;
    }
    return std::unexpected("cannot be written as text");
}

}  // namespace

std::string find_range_error(const option_facts& option, const option_value& value) {
    if (const auto* count = std::get_if<std::uint64_t>(&value)) {
        const bool is_valid = *count >= static_cast<std::uint64_t>(option.min) &&
                              *count <= static_cast<std::uint64_t>(option.max);
        return is_valid ? "" : "must be " + describe_range(option);
    }
    if (const auto* time = std::get_if<nanoseconds>(&value)) {
        return find_duration_error(option, *time);
    }
    const auto* text = std::get_if<std::string_view>(&value);
    return text != nullptr ? find_size_error(option, text->size()) : "";
}

std::expected<option_value, std::string> parse_option(
    const option_facts& option, std::string_view text) {
    auto value = parse_value(option, text);
    if (value) {
        if (std::string error = find_range_error(option, *value); !error.empty()) {
            return std::unexpected(std::move(error));
        }
    }
    return value;
}

std::string describe_range(const option_facts& option) {
    switch (option.kind) {
        case option_kind::count:
            return std::to_string(option.min) + " to " + std::to_string(option.max);
        case option_kind::duration:
            return (option.min == 1 ? "above zero" : to_text(nanoseconds(option.min))) + " to " +
                   to_text(nanoseconds(option.max));
        case option_kind::text:
            return option.min > 0 ? "not empty" : "";
        case option_kind::flag:
        case option_kind::object:
            break;
    }
    return "";
}

}  // namespace reprise::base
