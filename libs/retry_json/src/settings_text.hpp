#pragma once

/// The reader behind `strategy_from_json`. The lab includes it, too: it reads settings inside
/// larger documents.

#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <reprise/retry/retry_errc.hpp>
#include <reprise/retry_json/retry_options.hpp>
#include <reprise/retry_json/strategy_from_json.hpp>

namespace reprise::retry_json::detail {

/// The errors that `check` functions return.
using invalid_option = std::optional<driver::settings_error>;

[[nodiscard]] inline invalid_option refuse(std::string field, std::string message) {
    return driver::settings_error{std::move(field), std::move(message)};
}

/// Puts `path` before the field of an error, if there is one.
[[nodiscard]] inline invalid_option under(const std::string& path, invalid_option error) {
    if (error) {
        error->field = path + "." + error->field;
    }
    return error;
}

}  // namespace reprise::retry_json::detail

namespace reprise::json {
class reading_report;
class value;
struct document;
struct reading_error;
}  // namespace reprise::json

namespace reprise::retry_json::detail {

/// Accepts the name of a preset, an object of this library, a gRPC service config (or one of its
/// policies), or an Envoy retry policy. Without a problem in `report`, the result has been checked.
[[nodiscard]] retry_options read_retries(
    const json::value& content, const std::vector<std::string>& path, json::reading_report& report);

/// Parses JSON with comments. Text above 1 MB and duplicate members are refused.
[[nodiscard]] std::expected<json::document, text_error> parse_settings_text(std::string_view text);

/// The error with the line of its path in `text`.
[[nodiscard]] text_error locate(std::string_view text, const json::reading_error& found);

}  // namespace reprise::retry_json::detail
