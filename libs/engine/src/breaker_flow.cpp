// Circuit breakers: outcomes in, canaries out. Endpoints have one only if the options ask for it.

#include <algorithm>

#include <reprise/wire/session_messages.hpp>

#include "engine_core.hpp"

namespace reprise::engine {

// A request that was sent has ended, well or not.
void engine_core::note_outcome(
    endpoint_record& endpoint, const std::error_code& outcome, time_point now) {
    if (!endpoint.breaker || !endpoint.breaker->allows()) {
        return;
    }
    endpoint.breaker->on_outcome(outcome, now);
    if (!endpoint.breaker->allows()) {
        log(log_level::warn, "circuit breaker of " + endpoint.name + " opens");
        arm_breaker(endpoint);
    }
}

void engine_core::on_breaker_due(endpoint_record& endpoint, time_point now) {
    if (!endpoint.breaker) {
        return;
    }
    if (endpoint.breaker->on_due(now)) {
        const auto open = std::ranges::find_if(connections_, [&](const auto& candidate) {
            return candidate.second->state == connection_state::open &&
                   candidate.second->link->endpoint == &endpoint;
        });
        const bool is_sent = open != connections_.end()
                                 ? send_own(
                                       *open->second, waiter_kind::canary, wire::opcode::noop, 0,
                                       wire::empty_request{wire::opcode::noop})
                                       .has_value()
                                 : http_.send_canary(endpoint, now);
        if (!is_sent) {
            endpoint.breaker->on_canary_lost(now);
        }
    }
    arm_breaker(endpoint);
}

void engine_core::on_canary_lost(endpoint_record& endpoint, time_point now) {
    if (endpoint.breaker) {
        endpoint.breaker->on_canary_lost(now);
        arm_breaker(endpoint);
    }
}

// The endpoint answers. Whoever was kept away goes on; who waits for a connection that is not there
// still does.
void engine_core::close_breaker(endpoint_record& endpoint, time_point now) {
    if (!endpoint.breaker || !endpoint.breaker->close()) {
        return;
    }
    log(log_level::info, "circuit breaker of " + endpoint.name + " closes");
    arm_breaker(endpoint);
    for (const auto& bucket : buckets_) {
        for (std::size_t index = 0; index < bucket->links.size(); ++index) {
            node_link& link = *bucket->links[index];
            const bool is_open =
                link.connection != nullptr && link.connection->state == connection_state::open;
            if (link.endpoint == &endpoint && is_open) {
                wake(link.waiters, now);
            }
        }
    }
    http_.wake_refused(now);
}

// Nobody goes there any more; whoever comes again begins with nothing counted.
void engine_core::forget_breaker(endpoint_record& endpoint) {
    if (endpoint.breaker) {
        endpoint.breaker->close();
        arm_breaker(endpoint);
    }
}

void engine_core::arm_breaker(endpoint_record& endpoint) {
    if (const auto due = endpoint.breaker->next_due(); due && !is_closed_) {
        wheel_.arm(endpoint, *due);
    } else {
        wheel_.disarm(endpoint);
    }
}

}  // namespace reprise::engine
