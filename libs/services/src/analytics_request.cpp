#include <reprise/services/analytics_request.hpp>

#include "request_body.hpp"

namespace reprise::services {

service_call_result make_analytics_call(
    std::string_view statement, const analytics_options& options, const request_context& context) {
    detail::request_body body;
    if (statement.empty()) {
        body.fail(service_call_errc::text_missing, "statement");
    }
    body.text("statement", statement);
    body.statement_options(options, context);
    detail::write_consistency(body, options.consistency);
    body.text("query_context", detail::query_context(context));
    body.members(options.raw);
    auto call = detail::make_post(wire::service::analytics, "/query/service", body, "results");
    if (call) {
        call->is_idempotent = options.readonly;
        if (options.has_priority) {
            call->headers.push_back({"analytics-priority", "-1"});
        }
    }
    return call;
}

}  // namespace reprise::services
