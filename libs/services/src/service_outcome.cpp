#include <reprise/services/service_outcome.hpp>

#include <algorithm>
#include <utility>

#include <reprise/base/enum_table.hpp>
#include <reprise/json/write.hpp>

#include "outcome_reader.hpp"

namespace reprise::services {

std::string_view to_string(outcome_errc code) noexcept {
    return base::name_of(code);
}

std::string to_string(const outcome_error& error) {
    std::string out(to_string(error.code));
    if (!error.path.empty()) {
        out += " at " + error.path;
    }
    return error.detail.empty() ? out : out + ": " + error.detail;
}

errc classify_bare_status(int http_status, body_state body) noexcept {
    if (http_status == 401 || http_status == 403) {
        return errc::authentication_failure;
    }
    if (http_status == 503) {
        return errc::service_not_available;
    }
    return body == body_state::empty ? errc::internal_server_failure : errc::parsing_failure;
}

namespace detail {

namespace {

// Limits for the trailer of an answer. The splitter has already limited its depth.
constexpr json::parse_options answer_options{
    .size_max_bytes = std::size_t{64} * 1024 * 1024, .depth_max = 512};

constexpr char fold_case(char letter) noexcept {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter + ('a' - 'A')) : letter;
}

std::size_t find_ignoring_case(std::string_view text, std::string_view part) noexcept {
    const auto at = std::search(
        text.begin(), text.end(), part.begin(), part.end(),
        [](char left, char right) { return fold_case(left) == fold_case(right); });
    return at == text.end() && !part.empty() ? std::string_view::npos
                                             : static_cast<std::size_t>(at - text.begin());
}

}  // namespace

std::unexpected<outcome_error> outcome_failure(
    outcome_errc code, std::string path, std::string detail) {
    return std::unexpected(outcome_error{code, std::move(path), std::move(detail)});
}

std::expected<json::value, outcome_error> parse_answer(std::string_view text) {
    auto document = json::parse(text, answer_options);
    if (!document) {
        return outcome_failure(outcome_errc::not_json, {}, to_string(document.error()));
    }
    if (document->root.as_object() == nullptr) {
        return outcome_failure(outcome_errc::wrong_type, {}, "not an object");
    }
    return std::move(document->root);
}

std::string text_or_empty(const json::value& object, std::string_view name) {
    const json::value* const found = object.find(name);
    const auto text = found == nullptr ? std::nullopt : found->as_string();
    return text ? std::string(*text) : std::string();
}

std::uint64_t number_or_zero(const json::value& object, std::string_view name) {
    const json::value* const found = object.find(name);
    return found == nullptr ? 0 : found->as_uint64().value_or(0);
}

std::string raw_or_empty(const json::value& object, std::string_view name) {
    const json::value* const found = object.find(name);
    return found == nullptr ? std::string() : json::serialize(*found);
}

std::expected<const json::array*, outcome_error> array_or_null(
    const json::value& object, std::string_view name) {
    const json::value* const found = object.find(name);
    if (found == nullptr || found->is_null()) {
        return nullptr;
    }
    if (found->as_array() == nullptr) {
        return outcome_failure(outcome_errc::wrong_type, std::string(name), "not an array");
    }
    return found->as_array();
}

bool contains_ignoring_case(std::string_view text, std::string_view part) noexcept {
    return find_ignoring_case(text, part) != std::string_view::npos;
}

bool contains_in_order(
    std::string_view text, std::string_view first, std::string_view second) noexcept {
    const std::size_t at = find_ignoring_case(text, first);
    return at != std::string_view::npos &&
           contains_ignoring_case(text.substr(at + first.size()), second);
}

}  // namespace detail

}  // namespace reprise::services
