#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <reprise/services/http_exchange.hpp>
#include <reprise/services/query_request.hpp>

namespace reprise::services {

/// All options of an analytics request. A member that you do not set is not sent.
struct analytics_request {
    std::string statement{};
    /// Use a new one for each request. The answer repeats it.
    std::string client_context_id{};
    /// The limit on the server; see server_timeout().
    std::optional<std::chrono::milliseconds> timeout{};
    /// The server rejects writes. This makes the request idempotent.
    bool is_readonly = false;
    /// Sends `analytics-priority: -1`, which runs the request before those without priority.
    bool has_priority = false;

    std::vector<std::string> args{};       ///< positional parameters, each a JSON value
    std::vector<named_json> parameters{};  ///< named parameters; `$` is added to names that lack it

    /// Analytics does not support at_plus.
    scan_consistency consistency = scan_consistency::server_default;
    std::string query_context{};    ///< see make_query_context()
    std::vector<named_json> raw{};  ///< members that this struct does not have
};

/// POST /query/service on the analytics port. Rows are in "results"; parse_query_outcome parses the
/// rest of the answer, and classify_analytics classifies it. Idempotent if readonly.
///
/// Fails with text_missing (statement), option_out_of_place (at_plus), value_not_json,
/// text_not_utf8 or name_repeated.
service_call_result make_analytics_call(const analytics_request& request);

/// Fails like make_analytics_call().
[[nodiscard]] service_operation_result make_analytics_operation(const analytics_request& asked);

}  // namespace reprise::services
