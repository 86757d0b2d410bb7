#pragma once

#include <chrono>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/services/service_outcome.hpp>

// The answer to a query or an analytics request: both services share its shape.

namespace reprise::services {

// One entry of `errors` or `warnings`.
struct query_problem {
    std::int64_t code = 0;  // the service's own number
    std::string message;    // for people; some codes are told apart by it
    // `"retry": true` of the entry itself: the server asks to try again.
    bool is_retry_advised = false;
    // `reason.code`, where the server names a cause.
    std::optional<std::int64_t> reason_code;

    friend bool operator==(const query_problem&, const query_problem&) = default;
};

// What the server says about its work. Asked for with query_request::metrics.
struct query_metrics {
    // Empty if it is missing or no duration.
    std::optional<std::chrono::nanoseconds> elapsed_time;
    std::optional<std::chrono::nanoseconds> execution_time;
    // 0 if missing.
    std::uint64_t result_count = 0;  // rows
    std::uint64_t result_size = 0;   // bytes
    std::uint64_t sort_count = 0;
    std::uint64_t mutation_count = 0;
    std::uint64_t error_count = 0;
    std::uint64_t warning_count = 0;
    std::uint64_t processed_objects = 0;  // analytics only

    friend bool operator==(const query_metrics&, const query_metrics&) = default;
};

// The `status` word. Only success and completed are good.
enum class query_status : std::uint8_t {
    missing,  // the answer has no status
    running,
    success,
    errors,
    completed,
    stopped,
    timeout,
    closed,
    fatal,
    aborted,
    unknown  // a word that is not in this list
};

std::string_view to_string(query_status status) noexcept;

// Everything of the answer beside its rows.
struct query_outcome {
    query_status status = query_status::missing;
    std::string request_id;
    std::string client_context_id;
    // In the server's order: the first error decides.
    std::vector<query_problem> errors;
    std::vector<query_problem> warnings;
    std::optional<query_metrics> metrics;
    // The name under which an auto-executed PREPARE was stored (enhanced prepared statements).
    std::string prepared_name;
    // JSON as the server meant it; empty if missing.
    std::string signature;
    std::string profile;
};

// Reads what row_splitter::trailer() gives, or a whole answer. Unknown members are ignored and
// members that only inform may be of any shape; `errors` and `status` must be right. An error
// without a number as its code is wrong_type. At most 100 errors and 100 warnings are kept.
std::expected<query_outcome, outcome_error> parse_query_outcome(std::string_view trailer);

// Why a failed query may be tried again.
enum class query_retry : std::uint8_t {
    none,
    prepared_statement_failure,  // 4040, 4050, 4070: forget the name, prepare again
    index_not_found,             // 5000 with queryport.indexNotFound in its message
    indicated_by_server          // the error is flagged `retry`; never 12016
};

// The decision about one answer. `retry` says what the RFC allows; whether it happens is the
// engine's, and never once a row was handed out.
struct query_verdict {
    std::optional<errc> error{};  // absent: success
    query_retry retry = query_retry::none;

    friend bool operator==(const query_verdict&, const query_verdict&) = default;
};

// What the answer means, by its first error. Without errors it is a success only if the HTTP status
// is 2xx and the status says success or completed; 200 with errors is an error.
query_verdict classify_query(int http_status, const query_outcome& outcome);

// Why a failed analytics request may be tried again.
enum class analytics_retry : std::uint8_t {
    none,
    temporary_failure  // 23000, 23003, 23007
};

// As query_verdict.
struct analytics_verdict {
    std::optional<errc> error{};  // absent: success
    analytics_retry retry = analytics_retry::none;

    friend bool operator==(const analytics_verdict&, const analytics_verdict&) = default;
};

// As classify_query, by the codes of analytics.
analytics_verdict classify_analytics(int http_status, const query_outcome& outcome);

// The row of a PREPARE in the legacy form: `name` and `encoded_plan`, both needed.
struct prepared_row {
    std::string name;
    std::string encoded_plan;
};
std::expected<prepared_row, outcome_error> parse_prepared_row(std::string_view row);

}  // namespace reprise::services
