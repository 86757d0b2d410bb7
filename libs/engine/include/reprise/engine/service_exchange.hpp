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

// What operations of each HTTP service say and how their answers are judged: requests ready for
// client_engine::start_http, with service, exchange, idempotency and names filled in; timeouts,
// strategy and bounds are the caller's. The error tells which part of the request cannot be sent.

namespace reprise::engine {

using http_request_result = std::expected<http_request, services::service_call_error>;

// How a statement is run.
struct query_plan {
    // Null: the statement is sent as it is. Otherwise it is prepared once, run by its name from
    // then on, and prepared again when the service has forgotten it. Used on the engine's thread
    // only.
    std::shared_ptr<prepared_cache> cache{};
    // Prepare and run in one request if the cluster says that it can; false: never.
    bool may_be_enhanced = true;
};

[[nodiscard]] http_request_result make_query_operation(
    services::query_request asked, query_plan plan = {});
[[nodiscard]] http_request_result make_analytics_operation(
    const services::analytics_request& asked);
[[nodiscard]] http_request_result make_search_operation(const services::search_request& asked);
[[nodiscard]] http_request_result make_view_operation(const services::view_request& asked);

// Any other request: the answer is kept whole, 2xx is success, nothing is retried because of its
// status. Idempotent if it is a GET or HEAD.
[[nodiscard]] http_request make_management_operation(services::service_call call);

}  // namespace reprise::engine
