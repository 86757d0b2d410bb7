#include <reprise/services/analytics_request.hpp>

#include "request_body.hpp"

namespace reprise::services {

service_call_result make_analytics_call(const analytics_request& request) {
    detail::request_body body;
    if (request.statement.empty()) {
        body.fail(service_call_errc::text_missing, "statement");
    }
    if (request.consistency == scan_consistency::at_plus) {
        body.fail(service_call_errc::option_out_of_place, "scan_consistency");
    }
    body.text("statement", request.statement);
    body.text("client_context_id", request.client_context_id);
    body.duration("timeout", request.timeout);
    body.flag_if_set("readonly", request.is_readonly);
    body.args(request.args);
    body.parameters(request.parameters);
    if (request.consistency != scan_consistency::server_default) {
        body.text("scan_consistency", to_string(request.consistency));
    }
    body.text("query_context", request.query_context);
    body.members(request.raw);
    auto call = detail::make_post(wire::service::analytics, "/query/service", body, "results");
    if (call) {
        call->is_idempotent = request.is_readonly;
        if (request.has_priority) {
            call->headers.push_back({"analytics-priority", "-1"});
        }
    }
    return call;
}

}  // namespace reprise::services
