#pragma once

#include <memory>
#include <string>
#include <utility>

#include <reprise/services/http_exchange.hpp>
#include <reprise/services/service_outcome.hpp>

// Shared by the exchanges of all services.

namespace reprise::services::detail {

[[nodiscard]] exchange_result failure(errc error);
// The service refused the request, or failed in an unknown state.
[[nodiscard]] exchange_result failure_by_status(errc error, int http_status);
// Retries for `reason` if it is known. A retry without an error gets a default one, in case it is
// refused.
[[nodiscard]] exchange_result result_of(const service_verdict& judged);
// The delay that Retry-After asks for. There is no clock here, so a date is compared with the Date
// header of the same answer, which comes from the same clock. Without that header a date is
// ignored.
[[nodiscard]] duration retry_after(const http::header_list& headers);
// The access of a request that may be sent again or not by its own options.
[[nodiscard]] constexpr request_access access_of(bool is_idempotent) noexcept {
    return is_idempotent ? request_access::reads : request_access::may_write;
}

// Sends the same request each time. Subclasses differ in how they read the answers.
class fixed_exchange : public http_exchange {
public:
    explicit fixed_exchange(service_call call) : call_(std::move(call)) {}
    const service_call& compose(const wire::cluster_configuration*) final { return call_; }
    exchange_result judge(const http_answer& answer) final;

protected:
    [[nodiscard]] const service_call& call() const noexcept { return call_; }
    virtual exchange_result read(const http_answer& answer) const = 0;

private:
    service_call call_;
};

// The parts of an operation that its first request determines.
[[nodiscard]] service_operation operation_for(const service_call& call, std::string name);

template <class Exchange>
service_operation_result fixed_operation(service_call_result call, std::string name) {
    if (!call) {
        return std::unexpected(std::move(call.error()));
    }
    service_operation made = operation_for(*call, std::move(name));
    made.exchange = std::make_unique<Exchange>(std::move(*call));
    return made;
}

}  // namespace reprise::services::detail
