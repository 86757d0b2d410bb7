#pragma once

/// The reader behind `strategy_from_json`, for libraries that read settings inside larger
/// documents.

#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/retry_json/retry_options.hpp>
#include <reprise/retry_json/text_error.hpp>

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
