#include <reprise/services/query_outcome.hpp>

#include "outcome_reader.hpp"

// The meanings of query's and analytics' codes. Only the first error of an answer counts.

namespace reprise::services {

namespace {

constexpr bool is_success_status(int http_status) noexcept {
    return http_status >= 200 && http_status < 300;
}

// The service ended the request because its time was over, wherever it was.
constexpr errc own_timeout(request_access access) noexcept {
    return access == request_access::reads ? errc::unambiguous_timeout : errc::ambiguous_timeout;
}

// Without an error entry, both statuses must indicate success.
std::optional<errc> classify_errorless(
    int http_status, query_status status, request_access access) noexcept {
    if (!is_success_status(http_status)) {
        return classify_bare_status(http_status, body_state::empty);
    }
    switch (status) {
        case query_status::success:
        case query_status::completed:
            return std::nullopt;
        case query_status::timeout:
            return own_timeout(access);
        case query_status::missing:
        case query_status::running:
        case query_status::errors:
        case query_status::stopped:
        case query_status::closed:
        case query_status::fatal:
        case query_status::aborted:
        case query_status::unknown:
            break;
    }
    return errc::internal_server_failure;
}

// The server is too old for the parameter, or the parameter is invalid anywhere.
errc classify_parameter(std::string_view message) noexcept {
    for (const std::string_view name : {"query_context", "preserve_expiry", "use_replica"}) {
        if (message.find(name) != std::string_view::npos) {
            return errc::feature_not_available;
        }
    }
    return errc::invalid_argument;
}

constexpr std::int64_t query_timeout_code = 1080;
constexpr std::int64_t query_queue_full_code = 1201;

constexpr std::string_view queryport_index_not_found = "queryport.indexNotFound";

// Only the text of 5000 has a meaning. Checks for a missing bucket first, because index management
// reports it as "...Index... Bucket Not Found".
errc classify_internal(std::string_view message) noexcept {
    using detail::contains_ignoring_case;
    using detail::contains_in_order;
    if (message.find(queryport_index_not_found) != std::string_view::npos) {
        return errc::index_not_found;
    }
    if (contains_ignoring_case(
            message,
            "limit for number of indexes that can be created per scope has been reached")) {
        return errc::quota_limited;
    }
    if (contains_ignoring_case(message, "bucket not found")) {
        return errc::bucket_not_found;
    }
    if (contains_in_order(message, "index", "already exist")) {
        return errc::index_exists;
    }
    if (contains_in_order(message, "index", "not found") ||
        contains_ignoring_case(message, "index does not exist")) {
        return errc::index_not_found;
    }
    return errc::internal_server_failure;
}

// The reason's code is exact. The text also mentions CAS mismatch as one of several causes.
errc classify_dml(const query_problem& problem) noexcept {
    switch (problem.reason_code.value_or(0)) {
        case 12033:
            return errc::cas_mismatch;
        case 17014:
            return errc::document_not_found;
        case 17012:
            return errc::document_exists;
        default:
            break;
    }
    return detail::contains_ignoring_case(problem.message, "cas mismatch") ? errc::cas_mismatch
                                                                           : errc::dml_failure;
}

// The names of the path that follows the namespace, as in `default:bucket.scope.collection`. Zero
// if the text contains no path. Dots between backticks are part of a name.
std::size_t count_path_parts(std::string_view message) noexcept {
    constexpr std::string_view name_space = "default:";
    const std::size_t at = message.find(name_space);
    if (at == std::string_view::npos) {
        return 0;
    }
    std::size_t count = 1;
    bool is_quoted = false;
    for (const char letter : message.substr(at + name_space.size())) {
        if (letter == '`') {
            is_quoted = !is_quoted;
        } else if (letter == ' ' && !is_quoted) {
            break;
        } else if (letter == '.' && !is_quoted) {
            ++count;
        }
    }
    return count;
}

// 12003 reports a missing bucket and a missing collection. The path is as long as the name that was
// not found.
errc classify_keyspace(std::string_view message) noexcept {
    switch (count_path_parts(message)) {
        case 2:
            return errc::scope_not_found;
        case 3:
            return errc::collection_not_found;
        default:
            return errc::bucket_not_found;
    }
}

// Classifies codes without a meaning of their own by their thousand.
errc classify_query_range(std::int64_t code) noexcept {
    if (code >= 10000 && code < 11000) {
        return errc::authentication_failure;
    }
    switch (code / 1000) {
        case 4:
            return errc::planning_failure;
        case 12:
        case 14:
            return errc::index_failure;
        default:
            return errc::internal_server_failure;
    }
}

errc classify_query_problem(const query_problem& problem, request_access access) noexcept {
    switch (problem.code) {
        case 1065:
            return classify_parameter(problem.message);
        case query_timeout_code:
            return own_timeout(access);
        case 1191:
        case 1192:
        case 1193:
        case 1194:
            return errc::rate_limited;
        case 1197:
        case 3230:
            return errc::feature_not_available;
        case 2120:
        case 13014:
            return errc::authentication_failure;
        case 3000:
            return errc::parsing_failure;
        case 4040:
        case 4050:
        case 4060:
        case 4070:
        case 4080:
        case 4090:
            return errc::prepared_statement_failure;
        case 4300:
            return errc::index_exists;
        case 5000:
            return classify_internal(problem.message);
        case 12003:
            return classify_keyspace(problem.message);
        case 12021:
            return errc::scope_not_found;
        case 12004:
        case 12016:
            return errc::index_not_found;
        case 12009:
            return classify_dml(problem);
        default:
            return classify_query_range(problem.code);
    }
}

// Whether the service sends this code only before it executes anything: it refuses the request
// (1000 to 1079), the user's limits, a full queue, the user's rights, or the text and its names.
// 4036 and 12016 can follow changes, and from 10100 on a user-defined function failed, which runs
// with the statement.
bool is_sent_before_execution(std::int64_t code) noexcept {
    switch (code) {
        case 1191:
        case 1192:
        case 1193:
        case 1194:
        case 1197:
        case query_queue_full_code:
        case 2120:
        case 12003:
        case 12004:
        case 12021:
        case 13014:
            return true;
        case 4036:
            return false;
        default:
            break;
    }
    return (code >= 1000 && code < query_timeout_code) || (code >= 3000 && code < 5000) ||
           (code >= 10000 && code < 10100);
}

// Checks the RFC's three codes of prepared statements and one text, then the server's flag. 12016
// has the flag although a retry cannot create the index.
retry_reason query_retry_reason(const query_problem& problem, request_access access) noexcept {
    if (problem.code == 4040 || problem.code == 4050 || problem.code == 4070) {
        return retry_reason::query_prepared_statement_failure;
    }
    if (problem.code == 5000 &&
        problem.message.find(queryport_index_not_found) != std::string::npos) {
        return retry_reason::query_index_not_found;
    }
    const bool is_harmless =
        access == request_access::reads || problem.code == query_queue_full_code;
    return is_harmless && problem.is_retry_advised && problem.code != 12016
               ? retry_reason::service_response_code_indicated
               : retry_reason::unknown;
}

errc classify_analytics_code(std::int64_t code, request_access access) noexcept {
    switch (code) {
        case 21002:
            return own_timeout(access);
        case 23000:
        case 23003:
            return errc::temporary_failure;
        case 23007:
            return errc::job_queue_full;
        case 24000:
            return errc::parsing_failure;
        case 24006:
            return errc::link_not_found;
        case 24055:
            return errc::link_exists;
        case 24025:
        case 24044:
        case 24045:
            return errc::dataset_not_found;
        case 24034:
            return errc::dataverse_not_found;
        case 24039:
            return errc::dataverse_exists;
        case 24040:
            return errc::dataset_exists;
        case 24047:
            return errc::index_not_found;
        case 24048:
            return errc::index_exists;
        default:
            break;
    }
    if (code / 1000 == 20) {
        return errc::authentication_failure;
    }
    return code / 1000 == 24 ? errc::compilation_failure : errc::internal_server_failure;
}

// A failed answer without an error entry, of either service.
bool may_errorless_have_acted(
    int http_status, const std::optional<errc>& error, request_access access) noexcept {
    return error && access == request_access::may_write && !refuses_request(http_status);
}

}  // namespace

service_verdict classify_query(
    int http_status, const query_outcome& outcome, request_access access) {
    if (outcome.errors.empty()) {
        const auto error = classify_errorless(http_status, outcome.state, access);
        return {error, retry_reason::unknown, may_errorless_have_acted(http_status, error, access)};
    }
    const query_problem& first = outcome.errors.front();
    const retry_reason reason = query_retry_reason(first, access);
    return {
        classify_query_problem(first, access), reason,
        access == request_access::may_write && reason == retry_reason::unknown &&
            !is_sent_before_execution(first.code)};
}

service_verdict classify_analytics(
    int http_status, const query_outcome& outcome, request_access access) {
    if (outcome.errors.empty()) {
        const auto error = classify_errorless(http_status, outcome.state, access);
        return {error, retry_reason::unknown, may_errorless_have_acted(http_status, error, access)};
    }
    const std::int64_t code = outcome.errors.front().code;
    const bool is_temporary = code == 23000 || code == 23003 || code == 23007;
    // The user's rights (20), the text and its names (24) are checked before the execution.
    const bool is_refused = is_temporary || code / 1000 == 20 || code / 1000 == 24;
    return {
        classify_analytics_code(code, access),
        is_temporary ? retry_reason::analytics_temporary_failure : retry_reason::unknown,
        access == request_access::may_write && !is_refused};
}

}  // namespace reprise::services
