#include "http_operations/waiting_http_operations.hpp"

#include <algorithm>

#include "http_operations/http_operations.hpp"

namespace reprise::engine {
namespace {

// Nothing was sent because no node could be reached.
bool is_stuck(const http_slot& slot) noexcept {
    return slot.failed.stage == attempt_stage::dispatch &&
           (slot.failed.reason == retry_reason::node_not_available ||
            slot.failed.reason == retry_reason::socket_not_available);
}

}  // namespace

void waiting_http_operations::park(http_slot& slot, duration delay, time_point now) {
    life_.park(slot, list_for(slot.failed.reason), driver::add_saturated(now, delay));
}

void waiting_http_operations::park_before_start(http_slot& slot, duration delay, time_point now) {
    if (!life_.has_place()) {
        return requests_.apply(slot, life_.refuse_place(slot, now), now);
    }
    life_.park(slot, backoff_waiters_, std::min(driver::add_saturated(now, delay), slot.deadline));
}

void waiting_http_operations::park_for_configuration(
    http_slot& slot, time_point due, time_point now) {
    if (!life_.has_place()) {
        return requests_.apply(slot, life_.refuse_place(slot, now), now);
    }
    life_.park_without_retry(slot, topology_waiters_, due);
}

intrusive_list<http_slot>& waiting_http_operations::list_for(retry_reason reason) noexcept {
    switch (reason) {
        case retry_reason::service_not_available:
            return topology_waiters_;
        case retry_reason::circuit_breaker_open:
            return breaker_waiters_;
        default:  // all others wait for nothing but their time
            return backoff_waiters_;
    }
}

void waiting_http_operations::leave(http_slot& slot) {
    if (slot.connection != nullptr) {
        slot.connection->slot = nullptr;
        slot.connection = nullptr;
    }
    life_.leave(slot);
}

void waiting_http_operations::resume(http_slot& slot, time_point now) {
    leave(slot);
    requests_.begin_attempt(slot, now);
}

template <class Goes>
void waiting_http_operations::wake_if(
    intrusive_list<http_slot>& list, time_point now, Goes&& goes) {
    operation_lifecycle::wake_if(list, goes, [&](http_slot& slot) { resume(slot, now); });
}

void waiting_http_operations::wake_refused(time_point now) {
    wake_if(
        breaker_waiters_, now, [&](const http_slot& slot) { return candidates_.would_pass(slot); });
}

void waiting_http_operations::find_nodes_again(time_point now) {
    wake_refused(now);
    wake_if(topology_waiters_, now, [](const http_slot&) { return true; });
}

void waiting_http_operations::wake_stuck(time_point now) {
    wake_if(backoff_waiters_, now, [&](const http_slot& slot) {
        return is_stuck(slot) && candidates_.terminal_reason_for(slot);
    });
}

}  // namespace reprise::engine
