#include <reprise/services/search_outcome.hpp>

#include <limits>

#include <reprise/json/write.hpp>

#include "outcome_reader.hpp"

namespace reprise::services {

namespace {

constexpr std::size_t partition_error_count_max = 1000;

void read_search_status(const json::value& status, search_outcome& outcome) {
    if (const auto word = status.as_string(); word) {
        outcome.status = *word;
        return;
    }
    outcome.partition_count = detail::number_or_zero(status, "total");
    outcome.failed_count = detail::number_or_zero(status, "failed");
    outcome.successful_count = detail::number_or_zero(status, "successful");
    const json::value* const errors = status.find("errors");
    const json::object* const entries = errors == nullptr ? nullptr : errors->as_object();
    if (entries == nullptr) {
        return;
    }
    for (const json::member& entry : *entries) {
        if (outcome.partition_errors.size() == partition_error_count_max) {
            break;
        }
        const auto text = entry.content.as_string();
        outcome.partition_errors.emplace_back(
            entry.name, text ? std::string(*text) : json::serialize(entry.content));
    }
}

bool search_body_has(std::string_view body, std::string_view part) noexcept {
    return body.find(part) != std::string_view::npos;
}

// Limits of a user: rate limits arrive with 429, the limit on indexes with 400.
std::optional<errc> classify_search_limit(std::string_view body) noexcept {
    for (const std::string_view name :
         {"num_concurrent_requests", "num_queries_per_min", "ingress_mib_per_min",
          "egress_mib_per_min"}) {
        if (search_body_has(body, name)) {
            return errc::rate_limited;
        }
    }
    return search_body_has(body, "num_fts_indexes") ? std::optional(errc::quota_limited)
                                                    : std::nullopt;
}

errc classify_search_refusal(std::string_view body) noexcept {
    if (search_body_has(body, "index not found")) {
        return errc::index_not_found;
    }
    if (search_body_has(body, "no planPIndexes for indexName")) {
        return errc::index_not_ready;
    }
    if (search_body_has(body, "pindex_consistency mismatched partition")) {
        return errc::consistency_mismatch;
    }
    return search_body_has(body, "num_fts_indexes") ? errc::quota_limited : errc::invalid_argument;
}

std::optional<errc> classify_search_answer(
    const std::expected<search_outcome, outcome_error>& outcome) {
    if (!outcome) {
        return errc::parsing_failure;
    }
    const bool has_failed = !outcome->error.empty() || outcome->status == "fail";
    return has_failed ? std::optional(errc::internal_server_failure) : std::nullopt;
}

}  // namespace

std::expected<search_outcome, outcome_error> parse_search_outcome(std::string_view trailer) {
    const auto answer = detail::parse_answer(trailer);
    if (!answer) {
        return std::unexpected(answer.error());
    }
    search_outcome outcome;
    if (const json::value* const status = answer->find("status"); status != nullptr) {
        read_search_status(*status, outcome);
    }
    outcome.error = detail::text_or_empty(*answer, "error");
    outcome.total_hits = detail::number_or_zero(*answer, "total_hits");
    if (const json::value* const score = answer->find("max_score"); score != nullptr) {
        outcome.max_score = score->as_double().value_or(0);
    }
    constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    const std::uint64_t took = detail::number_or_zero(*answer, "took");
    outcome.took = std::chrono::nanoseconds(took <= most ? static_cast<std::int64_t>(took) : 0);
    outcome.facets = detail::raw_or_empty(*answer, "facets");
    return outcome;
}

service_verdict classify_search(
    int http_status, std::string_view body,
    const std::expected<search_outcome, outcome_error>& outcome) {
    if (http_status >= 200 && http_status < 300) {
        return {classify_search_answer(outcome), retry_reason::unknown};
    }
    switch (http_status) {
        case 400:
            if (search_body_has(body, "pindex not available")) {
                return {errc::index_not_ready, retry_reason::service_response_code_indicated};
            }
            return {classify_search_refusal(body), retry_reason::unknown};
        case 401:
        case 403:
            return {errc::authentication_failure, retry_reason::unknown};
        case 404:
            return {errc::feature_not_available, retry_reason::unknown};
        case 429:
            if (const auto limit = classify_search_limit(body); limit.has_value()) {
                return {limit, retry_reason::unknown};
            }
            return {errc::temporary_failure, retry_reason::search_too_many_requests};
        case 503:
            return {errc::service_not_available, retry_reason::unknown};
        default:
            return {errc::internal_server_failure, retry_reason::unknown};
    }
}

}  // namespace reprise::services
