// Ends operations from outside: at their deadline, when they are canceled, and with the client.

#include <string>
#include <utility>

#include "connections/connections.hpp"
#include "operations/key_value_operations.hpp"

namespace reprise::engine {

void key_value_operations::on_due(operation_slot& slot, time_point now) {
    if (now >= slot.deadline) {
        return time_out(slot, now);
    }
    waiting_.resume(slot, false, now);
}

// A timeout is ambiguous only if a request that is not idempotent is on the wire without an answer.
// An operation in a backoff was never sent, or the server answered that it did nothing.
void key_value_operations::time_out(operation_slot& slot, time_point now) {
    const bool is_ambiguous = slot.state == operation_state::in_flight && !slot.is_idempotent;
    kv_connection* connection =
        slot.state == operation_state::in_flight ? slot.connection : nullptr;
    const errc code = is_ambiguous ? errc::ambiguous_timeout : errc::unambiguous_timeout;
    std::string waited_for = endings_.wait_cause(slot);
    waiting_.leave(slot);
    endings_.complete_error(
        slot, code, {.is_ambiguous = is_ambiguous, .detail = std::move(waited_for)}, now);
    if (connection != nullptr) {
        parts_.nodes.breakers_of_nodes().on_outcome(*connection->link->endpoint, code, now);
        parts_.kv_connections.on_abandoned(*connection, now);
    }
}

bool key_value_operations::cancel(operation_id operation, time_point now) {
    operation_slot* slot = endings_.slots().find(operation);
    if (slot == nullptr) {
        return false;
    }
    const bool is_ambiguous = slot->state == operation_state::in_flight && !slot->is_idempotent;
    waiting_.leave(*slot);
    endings_.complete_error(
        *slot, errc::request_canceled,
        {.is_ambiguous = is_ambiguous, .detail = "canceled by the caller"}, now);
    return true;
}

void key_value_operations::close(time_point now) {
    endings_.slots().for_each([&](operation_slot& slot) {
        const bool is_ambiguous = slot.state == operation_state::in_flight && !slot.is_idempotent;
        waiting_.leave(slot);
        endings_.complete_error(
            slot, errc::request_canceled,
            {.is_ambiguous = is_ambiguous, .detail = "the client was closed"}, now);
    });
    waiting_.close();
}

}  // namespace reprise::engine
