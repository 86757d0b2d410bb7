#pragma once

#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include <reprise/json/parse.hpp>
#include <reprise/json/value.hpp>
#include <reprise/services/service_outcome.hpp>

namespace reprise::services::detail {

std::unexpected<outcome_error> outcome_failure(
    outcome_errc code, std::string path, std::string detail);

// Parses the answer's top-level object.
std::expected<json::value, outcome_error> parse_answer(std::string_view text);

// Return an empty result if the member is missing, null or of another type. They are for members
// that are only displayed and must not make an answer unreadable.
std::string text_or_empty(const json::value& object, std::string_view name);
std::uint64_t number_or_zero(const json::value& object, std::string_view name);
// Returns the member as JSON, or an empty text if it is missing.
std::string raw_or_empty(const json::value& object, std::string_view name);
// Returns null if the member is missing or null. Fails with wrong_type if it is not an array.
std::expected<const json::array*, outcome_error> array_or_null(
    const json::value& object, std::string_view name);

// Ignores the case of ASCII letters.
bool contains_ignoring_case(std::string_view text, std::string_view part) noexcept;
// Whether `second` appears somewhere after `first`, ignoring case.
bool contains_in_order(
    std::string_view text, std::string_view first, std::string_view second) noexcept;

}  // namespace reprise::services::detail
