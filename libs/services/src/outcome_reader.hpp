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

// The answer's top-level object.
std::expected<json::value, outcome_error> parse_answer(std::string_view text);

// Members that are not there, are null or are of another type are empty: for what is only shown to
// people and must not make an answer unreadable.
std::string text_or_empty(const json::value& object, std::string_view name);
std::uint64_t number_or_zero(const json::value& object, std::string_view name);
// The member as it would be written; empty if it is not there.
std::string raw_or_empty(const json::value& object, std::string_view name);
// Null if the member is not there or null; wrong_type if it is no array.
std::expected<const json::array*, outcome_error> array_or_null(
    const json::value& object, std::string_view name);

// ASCII only.
bool contains_ignoring_case(std::string_view text, std::string_view part) noexcept;
// `second` somewhere behind `first`, both without case.
bool contains_in_order(
    std::string_view text, std::string_view first, std::string_view second) noexcept;

}  // namespace reprise::services::detail
