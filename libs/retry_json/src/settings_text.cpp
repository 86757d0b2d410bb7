#include "settings_text.hpp"

#include <reprise/json/location.hpp>
#include <reprise/json/object_reader.hpp>
#include <reprise/json/parse.hpp>

namespace reprise::retry_json {

namespace {

constexpr std::size_t text_size_max_bytes = 1'000'000;

}  // namespace

std::string to_string(const text_error& error) {
    std::string text = error.line > 0 ? "line " + std::to_string(error.line) + ": " : "";
    if (!error.path.empty()) {
        text += error.path + ": ";
    }
    return text + error.message;
}

std::string to_string(const std::vector<text_error>& errors) {
    std::string text;
    for (const text_error& each : errors) {
        text += (text.empty() ? "" : "\n") + to_string(each);
    }
    return text;
}

namespace detail {

std::expected<json::document, text_error> parse_settings_text(std::string_view text) {
    json::parse_options options;
    options.size_max_bytes = text_size_max_bytes;
    options.duplicates = json::duplicate_policy::refuse;
    options.allows_comments = true;
    auto parsed = json::parse(text, options);
    if (parsed) {
        return *std::move(parsed);
    }
    const json::parse_error& error = parsed.error();
    std::string message(json::to_string(error.code));
    if (!error.detail.empty()) {
        message += ": " + error.detail;
    }
    return std::unexpected(
        text_error{json::position_at(text, error.offset).line, {}, std::move(message)});
}

text_error locate(std::string_view text, const json::reading_error& found) {
    const std::size_t offset = json::find_offset(text, found.path);
    return {json::position_at(text, offset).line, json::to_string(found.path), found.message};
}

}  // namespace detail

}  // namespace reprise::retry_json
