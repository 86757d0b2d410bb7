#pragma once

#include <system_error>
#include <utility>

#include "engine_context.hpp"
#include "topology/endpoint_table.hpp"

namespace reprise::engine {

// The circuit breakers of all endpoints: outcomes in, canaries out, and one timer for each endpoint
// whose breaker is not closed. Endpoints have a breaker only if the options ask for it.
class breakers {
public:
    explicit breakers(engine_context& context) noexcept : context_(context) {}

    [[nodiscard]] static bool allow(const endpoint_record& endpoint) noexcept {
        return !endpoint.breaker || endpoint.breaker->allows();
    }
    // A request that was sent has ended, well or not.
    void on_outcome(endpoint_record& endpoint, const std::error_code& outcome, time_point now);
    // The endpoint's timer. `send_canary(endpoint)` returns whether a canary is on its way.
    template <class SendCanary>
    void on_due(endpoint_record& endpoint, time_point now, SendCanary&& send_canary) {
        if (!endpoint.breaker) {
            return;
        }
        if (endpoint.breaker->on_due(now) && !send_canary(endpoint)) {
            endpoint.breaker->on_canary_lost(now);
        }
        arm(endpoint);
    }
    void on_canary_lost(endpoint_record& endpoint, time_point now);
    // The endpoint answers. True: it had been kept away from, and requests may go there now.
    [[nodiscard]] bool close(endpoint_record& endpoint);
    // Nobody uses the endpoint any more; its breaker begins again with nothing counted.
    void forget(endpoint_record& endpoint);

private:
    void arm(endpoint_record& endpoint);

    engine_context& context_;
};

}  // namespace reprise::engine
