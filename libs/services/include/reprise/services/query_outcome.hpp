#pragma once

#include <chrono>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/services/service_outcome.hpp>

// The answer to a query or analytics request. Both services use the same format.

namespace reprise::services {

/// One entry of `errors` or `warnings`.
struct query_problem {
    std::int64_t code = 0;  ///< the service's own error code
    std::string message;    ///< readable text; it distinguishes the meanings of some codes
    /// The entry has `"retry": true`: the server asks for a retry.
    bool is_retry_advised = false;
    /// `reason.code`, if the server reports a cause.
    std::optional<std::int64_t> reason_code;

    friend bool operator==(const query_problem&, const query_problem&) = default;
};

/// The server's measurements. Requested with query_request::metrics.
struct query_metrics {
    /// Empty if missing or not a duration.
    std::optional<std::chrono::nanoseconds> elapsed_time;
    std::optional<std::chrono::nanoseconds> execution_time;
    /// These are 0 if missing.
    std::uint64_t result_count = 0;  ///< rows
    std::uint64_t result_size = 0;   ///< bytes
    std::uint64_t sort_count = 0;
    std::uint64_t mutation_count = 0;
    std::uint64_t error_count = 0;
    std::uint64_t warning_count = 0;
    std::uint64_t processed_objects = 0;  ///< analytics only

    friend bool operator==(const query_metrics&, const query_metrics&) = default;
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

/// Everything in the answer except its rows.
struct query_outcome {
    query_status status = query_status::missing;
    std::string request_id;
    std::string client_context_id;
    /// In the server's order: the first error decides.
    std::vector<query_problem> errors;
    std::vector<query_problem> warnings;
    std::optional<query_metrics> metrics;
    /// The name under which an auto-executed PREPARE was stored (enhanced prepared statements).
    std::string prepared_name;
    /// JSON as the server sent it; empty if missing.
    std::string signature;
    std::string profile;
};

/// Parses the result of row_splitter::trailer(), or a whole answer. Ignores unknown members.
/// Informational members may have any type, but `errors` and `status` must be valid. An error whose
/// code is not a number fails with wrong_type. Keeps at most 100 errors and 100 warnings.
std::expected<query_outcome, outcome_error> parse_query_outcome(std::string_view trailer);

/// Why a failed query may be retried.
enum class query_retry : std::uint8_t {
    none,
    prepared_statement_failure,  ///< 4040, 4050, 4070: drop the name and prepare again
    index_not_found,             ///< 5000 with queryport.indexNotFound in its message
    /// The error has the `retry` flag; never 12016. Statements that may write: 1201 only.
    indicated_by_server
};

/// The classification of one answer. `retry` is what the RFC allows. The engine decides whether to
/// retry, and never does once a row was delivered.
struct query_verdict {
    std::optional<errc> error{};  ///< empty means success
    query_retry retry = query_retry::none;
    /// The statement failed, and may have changed data all the same.
    bool may_have_acted = false;

    friend bool operator==(const query_verdict&, const query_verdict&) = default;
};

/// Classifies the answer by its first error. Without errors it is a success only if the HTTP status
/// is 2xx and the status is success or completed. A 200 with errors is an error.
///
/// Servers set the `retry` flag for their own timeout (1080) and for errors in the middle of a
/// statement (12008), although its changes stay. If the statement may write, only a code that is
/// sent before anything is executed is retried because of the flag, and 1080 is ambiguous.
query_verdict classify_query(int http_status, const query_outcome& outcome, request_access access);

/// Why a failed analytics request may be retried.
enum class analytics_retry : std::uint8_t {
    none,
    temporary_failure  ///< 23000, 23003, 23007
};

/// Like query_verdict.
struct analytics_verdict {
    std::optional<errc> error{};  ///< empty means success
    analytics_retry retry = analytics_retry::none;
    bool may_have_acted = false;

    friend bool operator==(const analytics_verdict&, const analytics_verdict&) = default;
};

/// Like classify_query, for the codes of analytics.
analytics_verdict classify_analytics(
    int http_status, const query_outcome& outcome, request_access access);

/// The row of a PREPARE in the legacy form. `name` and `encoded_plan` are both required.
struct prepared_row {
    std::string name;
    std::string encoded_plan;
};
std::expected<prepared_row, outcome_error> parse_prepared_row(std::string_view row);

}  // namespace reprise::services
