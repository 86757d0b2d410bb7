#pragma once

#include <system_error>
#include <utility>

#include "engine_context.hpp"
#include "topology/endpoint_table.hpp"

namespace reprise::engine {

// The circuit breakers of all endpoints. It counts outcomes, sends canaries and runs one timer for
// each endpoint whose breaker is not closed. Endpoints only have a breaker if the options enable
// it.
class breakers {
public:
    explicit breakers(engine_context& context) noexcept : context_(context) {}

    [[nodiscard]] static bool allow(const endpoint_record& endpoint) noexcept {
        return !endpoint.breaker || endpoint.breaker->allows();
    }
    void on_success(endpoint_record& endpoint, time_point now) {
        if (endpoint.breaker) [[unlikely]] {
            on_outcome(endpoint, {}, now);
        }
    }
    // A sent request has succeeded or failed.
    void on_outcome(endpoint_record& endpoint, const std::error_code& outcome, time_point now);
    // The endpoint's timer fired. `send_canary(endpoint)` returns whether it sent a canary.
    template <class SendCanary>
    void on_due(endpoint_record& endpoint, time_point now, SendCanary&& send_canary) {
        if (!endpoint.breaker) {
            return;
        }
        if (endpoint.breaker->on_due(now) && !send_canary(endpoint)) {
            endpoint.breaker->on_probe_lost(now);
        }
        arm(endpoint);
    }
    void on_canary_lost(endpoint_record& endpoint, time_point now);
    // The endpoint has answered. Returns true if its breaker was not closed, so that requests may
    // go there again.
    [[nodiscard]] bool close(endpoint_record& endpoint);
    // The endpoint is no longer used. Its breaker is reset.
    void forget(endpoint_record& endpoint);

private:
    void arm(endpoint_record& endpoint);

    engine_context& context_;
};

}  // namespace reprise::engine
