#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <string_view>

#include <reprise/engine/http_operation.hpp>
#include <reprise/engine/prepared_cache.hpp>
#include <reprise/services/analytics_request.hpp>
#include <reprise/services/query_request.hpp>
#include <reprise/services/search_request.hpp>
#include <reprise/services/service_call.hpp>
#include <reprise/services/view_request.hpp>

// Builds requests to each HTTP service for client_engine::start_http, with service, exchange,
// idempotency and names filled in. The caller sets timeouts, strategy and bounds. The error names
// the part of the request that cannot be sent.

namespace reprise::engine {

using http_request_result = std::expected<http_request, services::service_call_error>;

// How a statement is run.
struct query_plan {
    // Null: the statement is sent as text. Otherwise it is prepared once, then run by its name, and
    // prepared again if the service no longer knows it. Used on the engine's thread only.
    std::shared_ptr<prepared_cache> cache{};
    // Prepares and runs the statement in one request if the cluster supports it. False: never does.
    bool may_be_enhanced = true;
};

[[nodiscard]] http_request_result make_query_operation(
    services::query_request asked, query_plan plan = {});
[[nodiscard]] http_request_result make_analytics_operation(
    const services::analytics_request& asked);
[[nodiscard]] http_request_result make_search_operation(const services::search_request& asked);
[[nodiscard]] http_request_result make_view_operation(const services::view_request& asked);

// Any other request. The answer is kept whole, 2xx is success, and no status is retried. Idempotent
// if it is a GET or HEAD.
[[nodiscard]] http_request make_management_operation(services::service_call call);

}  // namespace reprise::engine
