#include <utility>

#include <reprise/services/management_request.hpp>

#include "fixed_exchange.hpp"

namespace reprise::services {
namespace {

class management_exchange final : public detail::fixed_exchange {
public:
    using fixed_exchange::fixed_exchange;

private:
    static errc by_status(int status) noexcept {
        if (status == 401 || status == 403) {
            return errc::authentication_failure;
        }
        if (status == 404) {
            return errc::feature_not_available;
        }
        if (status >= 400 && status < 500) {
            return errc::invalid_argument;
        }
        return status == 503 ? errc::service_not_available : errc::internal_server_failure;
    }
    exchange_result read(const http_answer& answer) const override {
        if (answer.status >= 200 && answer.status < 300) {
            return {};
        }
        // The path determines which resource a 404 is about. Other services have no such paths.
        const bool has_paths = wire::facts_of(call().service).has_resource_paths;
        exchange_result verdict = detail::failure_by_status(
            has_paths ? classify_management(answer.status, call().target, answer.body)
                            .value_or(errc::internal_server_failure)
                      : by_status(answer.status),
            answer.status);
        verdict.server_text = answer.body.substr(0, 512);
        return verdict;
    }
};

}  // namespace

service_operation make_management_operation(service_call call) {
    call.is_idempotent = call.method == "GET" || call.method == "HEAD";
    call.rows_member = {};
    // A raw request is named after the service that it is sent to.
    service_operation made =
        detail::operation_for(call, std::string(wire::to_string(call.service)));
    made.exchange = std::make_unique<management_exchange>(std::move(call));
    return made;
}

}  // namespace reprise::services
