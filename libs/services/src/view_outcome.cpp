#include <reprise/services/view_outcome.hpp>

#include <reprise/json/write.hpp>

#include "outcome_reader.hpp"

namespace reprise::services {

namespace {

constexpr std::size_t view_problem_count_max = 100;

bool view_body_has(std::string_view body, std::string_view part) noexcept {
    return body.find(part) != std::string_view::npos;
}

service_verdict classify_view_failure(std::string_view body) noexcept {
    const bool is_view_missing = view_body_has(body, "{not_found, missing_named_view}");
    if (view_body_has(body, "error") && (is_view_missing || view_body_has(body, "\"badarg\""))) {
        return {
            view_body_has(body, "not_found") ? errc::view_not_found : errc::internal_server_failure,
            retry_reason::unknown};
    }
    return {errc::internal_server_failure, retry_reason::views_temporary_failure};
}

}  // namespace

std::expected<view_row, outcome_error> parse_view_row(std::string_view row) {
    const auto answer = detail::parse_answer(row);
    if (!answer) {
        return std::unexpected(answer.error());
    }
    view_row out;
    out.id = detail::text_or_empty(*answer, "id");
    const json::value* const key = answer->find("key");
    const json::value* const value = answer->find("value");
    out.key = key == nullptr ? "null" : json::serialize(*key);
    out.value = value == nullptr ? "null" : json::serialize(*value);
    return out;
}

std::expected<view_outcome, outcome_error> parse_view_outcome(std::string_view trailer) {
    const auto answer = detail::parse_answer(trailer);
    if (!answer) {
        return std::unexpected(answer.error());
    }
    view_outcome outcome;
    if (const json::value* const total = answer->find("total_rows"); total != nullptr) {
        outcome.total_rows = total->as_uint64();
    }
    const json::value* const errors = answer->find("errors");
    if (const json::array* const entries = errors == nullptr ? nullptr : errors->as_array();
        entries != nullptr) {
        for (const json::value& entry : *entries) {
            if (outcome.errors.size() == view_problem_count_max) {
                break;
            }
            outcome.errors.push_back(
                {detail::text_or_empty(entry, "from"), detail::text_or_empty(entry, "reason")});
        }
    }
    outcome.debug_info = detail::raw_or_empty(*answer, "debug_info");
    outcome.error = detail::text_or_empty(*answer, "error");
    outcome.reason = detail::text_or_empty(*answer, "reason");
    return outcome;
}

service_verdict classify_view(int http_status, std::string_view body) noexcept {
    if (http_status >= 200 && http_status < 300) {
        return {};
    }
    switch (http_status) {
        case 302:
            return {errc::temporary_failure, retry_reason::views_no_active_partition};
        case 401:
            return {errc::authentication_failure, retry_reason::views_temporary_failure};
        case 300:
        case 301:
        case 303:
        case 307:
        case 408:
        case 409:
        case 412:
        case 416:
        case 417:
        case 501:
        case 502:
        case 503:
        case 504:
            return {errc::temporary_failure, retry_reason::views_temporary_failure};
        case 404:
            return {
                errc::view_not_found, view_body_has(body, R"("reason":"missing")")
                                          ? retry_reason::views_temporary_failure
                                          : retry_reason::unknown};
        case 500:
            return classify_view_failure(body);
        case 403:
            return {errc::authentication_failure, retry_reason::unknown};
        default:
            break;
    }
    const bool is_refused = http_status >= 400 && http_status < 500;
    return {
        is_refused ? errc::invalid_argument : errc::internal_server_failure, retry_reason::unknown};
}

}  // namespace reprise::services
