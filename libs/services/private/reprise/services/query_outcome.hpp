#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/couchbase_types/services.hpp>
#include <reprise/services/service_outcome.hpp>

// The answer to a query or analytics request. Both services use the same format.

namespace reprise::services {

/// One entry of `errors`.
struct query_problem {
    std::int64_t code = 0;  ///< the service's own error code
    std::string message;    ///< readable text; it distinguishes the meanings of some codes
    /// The entry has `"retry": true`: the server asks for a retry.
    bool is_retry_advised = false;
    /// `reason.code`, if the server reports a cause.
    std::optional<std::int64_t> reason_code;

    friend bool operator==(const query_problem&, const query_problem&) = default;
};

/// The `status` of the answer. Only success and completed mean success.
enum class query_status : std::uint8_t {
    missing,  ///< the answer has no status
    running,
    success,
    errors,
    completed,
    stopped,
    timeout,
    closed,
    fatal,
    aborted,
    unknown  ///< a status that is not in this list
};

std::string_view to_string(query_status status) noexcept;

/// Everything in the answer except its rows: what the user gets, and what decides about a retry.
struct query_outcome : couchbase::query_metadata {
    query_status state = query_status::missing;  ///< the meaning of `status`
    /// In the server's order: the first error decides.
    std::vector<query_problem> errors;
    /// The name under which an auto-executed PREPARE was stored (enhanced prepared statements).
    std::string prepared_name;
};

/// Parses the result of row_splitter::trailer(), or a whole answer. Ignores unknown members.
/// Informational members may have any type, but `errors` and `status` must be valid. An error whose
/// code is not a number fails with wrong_type. Keeps at most 100 errors and 100 warnings.
std::expected<query_outcome, outcome_error> parse_query_outcome(std::string_view trailer);

/// Classifies the answer by its first error. Without errors it is a success only if the HTTP status
/// is 2xx and the status is success or completed. A 200 with errors is an error.
///
/// Reasons for a retry: query_prepared_statement_failure (4040, 4050, 4070: drop the name and
/// prepare again), query_index_not_found (5000 with queryport.indexNotFound in its message), and
/// service_response_code_indicated (the error has the `retry` flag; never 12016).
///
/// Servers set the `retry` flag for their own timeout (1080) and for errors in the middle of a
/// statement (12008), although its changes stay. If the statement may write, only a code that is
/// sent before anything is executed is retried because of the flag, and 1080 is ambiguous.
service_verdict classify_query(
    int http_status, const query_outcome& outcome, request_access access);

/// Like classify_query, for the codes of analytics. 23000, 23003 and 23007 are retried as
/// analytics_temporary_failure.
service_verdict classify_analytics(
    int http_status, const query_outcome& outcome, request_access access);

/// The row of a PREPARE in the legacy form. `name` and `encoded_plan` are both required.
struct prepared_row {
    std::string name;
    std::string encoded_plan;
};
std::expected<prepared_row, outcome_error> parse_prepared_row(std::string_view row);

}  // namespace reprise::services
