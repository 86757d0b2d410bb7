#include "topology/breakers.hpp"

#include <reprise/couchbase_types/errc.hpp>

namespace reprise::engine {

void breakers::on_outcome(
    endpoint_record& endpoint, const std::error_code& outcome, time_point now) {
    if (!endpoint.breaker || !endpoint.breaker->allows()) {
        return;
    }
    const auto& is_failure = context_.options.is_breaker_failure;
    const bool has_failed =
        is_failure ? is_failure(outcome) : outcome == couchbase::error_condition::timeout;
    if (endpoint.breaker->on_outcome(has_failed, now)) {
        context_.log(log_level::warn, "circuit breaker of " + endpoint.name + " opens");
        arm(endpoint);
    }
}

void breakers::on_canary_lost(endpoint_record& endpoint, time_point now) {
    if (endpoint.breaker) {
        endpoint.breaker->on_probe_lost(now);
        arm(endpoint);
    }
}

bool breakers::close(endpoint_record& endpoint) {
    if (!endpoint.breaker || !endpoint.breaker->close()) {
        return false;
    }
    context_.log(log_level::info, "circuit breaker of " + endpoint.name + " closes");
    arm(endpoint);
    context_.tell_others({loop_note::subject::breaker_closed, endpoint.name});
    return true;
}

void breakers::forget(endpoint_record& endpoint) {
    if (endpoint.breaker) {
        if (endpoint.breaker->close()) {
            context_.tell_others({loop_note::subject::breaker_closed, endpoint.name});
        }
        arm(endpoint);
    }
}

void breakers::arm(endpoint_record& endpoint) {
    if (const auto due = endpoint.breaker->next_due(); due && !context_.is_closed) {
        context_.wheel.arm(endpoint, *due);
    } else {
        context_.wheel.disarm(endpoint);
    }
}

}  // namespace reprise::engine
