#pragma once

#include <memory>
#include <string_view>

#include <reprise/services/http_exchange.hpp>
#include <reprise/services/prepared_cache.hpp>

namespace reprise::services {

using couchbase::query_options;

/// POST /query/service with the statement as text. Rows are in "results". Idempotent if readonly.
///
/// Fails with text_missing (statement), option_out_of_place (consistent_with and another
/// consistency, or scan_wait without a consistency that waits), value_not_encoded, value_not_json,
/// text_not_utf8, or name_repeated (a raw or named member that already exists).
service_call_result make_query_call(
    std::string_view statement, const query_options& options = {},
    const request_context& context = {});

/// How a statement is prepared, unless query_options::adhoc is set.
struct query_plan {
    /// Null: the statement is sent as text. Otherwise it is prepared once, then run by its name,
    /// and prepared again if the service no longer has it. Used on the engine's thread only.
    std::shared_ptr<prepared_cache> cache{};
    /// Prepares and runs the statement in one request if the cluster supports it. False: never
    /// does.
    bool may_be_enhanced = true;
};

/// Fails like make_query_call().
[[nodiscard]] service_operation_result make_query_operation(
    std::string_view statement, const query_options& options = {},
    const request_context& context = {}, query_plan plan = {});

}  // namespace reprise::services
