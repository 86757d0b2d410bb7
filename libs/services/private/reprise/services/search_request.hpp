#pragma once

#include <string_view>

#include <reprise/services/http_exchange.hpp>

namespace reprise::services {

using couchbase::search_options;
using couchbase::search_query;

/// POST /api/index/<index>/query, or the path of an index in a scope if the context names bucket
/// and scope. Rows are in "hits". Always idempotent.
///
/// Fails with text_missing (index, query), option_out_of_place (only one of bucket and scope),
/// value_not_encoded, value_not_json, text_not_utf8, name_repeated or dot_segment.
service_call_result make_search_call(
    std::string_view index, const search_query& query, const search_options& options = {},
    const request_context& context = {});

/// Fails like make_search_call().
[[nodiscard]] service_operation_result make_search_operation(
    std::string_view index, const search_query& query, const search_options& options = {},
    const request_context& context = {});

}  // namespace reprise::services
