#pragma once

#include <string_view>

#include <reprise/services/http_exchange.hpp>

namespace reprise::services {

using couchbase::analytics_options;

/// POST /query/service on the analytics port. Rows are in "results"; parse_query_outcome parses the
/// rest of the answer, and classify_analytics classifies it. Idempotent if readonly.
///
/// Fails with text_missing (statement), value_not_encoded, value_not_json, text_not_utf8 or
/// name_repeated.
service_call_result make_analytics_call(
    std::string_view statement, const analytics_options& options = {},
    const request_context& context = {});

/// Fails like make_analytics_call().
[[nodiscard]] service_operation_result make_analytics_operation(
    std::string_view statement, const analytics_options& options = {},
    const request_context& context = {});

}  // namespace reprise::services
