#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <reprise/services/query_request.hpp>
#include <reprise/services/service_call.hpp>

namespace reprise::services {

// Everything an analytics request can say; a member left alone is not sent.
struct analytics_request {
    std::string statement{};
    // One for each request; the answer repeats it.
    std::string client_context_id{};
    // The server's own limit; see server_timeout().
    std::optional<std::chrono::milliseconds> timeout{};
    // The server refuses to write; makes the request idempotent.
    bool is_readonly = false;
    // Sends `analytics-priority: -1`: before the requests that have none.
    bool has_priority = false;

    std::vector<std::string> args{};       // positional parameters, each a JSON value
    std::vector<named_json> parameters{};  // named ones; `$` is added to names that lack it

    // Analytics has no at_plus.
    scan_consistency consistency = scan_consistency::server_default;
    std::string query_context{};    // see make_query_context()
    std::vector<named_json> raw{};  // members this list does not know
};

// POST /query/service of the analytics port; rows are in "results", the rest of the answer is read
// by parse_query_outcome and judged by classify_analytics. Idempotent if readonly.
//
// Errors: text_missing (statement), option_out_of_place (at_plus), value_not_json, text_not_utf8,
// name_repeated.
service_call_result make_analytics_call(const analytics_request& request);

}  // namespace reprise::services
