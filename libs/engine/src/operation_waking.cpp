// What the topology reports, and what it means for operations that wait.

#include "engine_core.hpp"

namespace reprise::engine {

void engine_core::on_configuration(
    bucket_state& bucket, std::size_t waiting_count, time_point now) {
    wake_for_revision(bucket, now);
    wake(bucket.topology_waiters, waiting_count, now);
    http_.on_topology(now);
}

void engine_core::on_link_failed(node_link& link, time_point now) {
    wake_silent(link.waiters, now);
    wake_silent(link.bucket->topology_waiters, now);
    http_.look_again(now);
}

void engine_core::on_link_retired(node_link& link, time_point now) {
    if (kv_connection* connection = link.connection) {
        for (std::size_t left = connection->ready.size(); left > 0; --left) {
            operation_slot& slot = *connection->ready.front();
            leave_place(slot);
            dispatch(slot, true, now);
        }
        connections_.close_drained(*connection, now);
    }
    wake(link.waiters, SIZE_MAX, now);
}

void engine_core::on_terminal_state(bucket_state& bucket, time_point now) {
    wake_for_terminal_state(bucket.topology_waiters, now);
    for (std::size_t index = 0; index < bucket.links.size(); ++index) {
        wake_for_terminal_state(bucket.links[index]->waiters, now);
    }
    wake_if_stuck(bucket.not_my_vbucket_waiters, bucket, now);
    wake_if_stuck(backoff_waiters_, bucket, now);
    for (const auto& entry : bucket.collections) {
        wake_if_stuck(entry->waiters, bucket, now);
    }
}

// These wait for something else than a connection, and their backoff goes on if they have one. The
// others would only find out later that nothing can be sent.
void engine_core::wake_if_stuck(wait_list& list, const bucket_state& bucket, time_point now) {
    for (std::size_t left = list.size(); left > 0 && !list.empty(); --left) {
        operation_slot& slot = *list.front();
        if (&bucket_of(slot) != &bucket || is_dispatchable(slot)) {
            list.erase(slot);
            list.push_back(slot);
        } else {
            leave_place(slot);
            dispatch(slot, true, now);
        }
    }
}

void engine_core::wake_for_terminal_state(wait_list& list, time_point now) {
    for (std::size_t left = list.size(); left > 0 && !list.empty(); --left) {
        operation_slot& slot = *list.front();
        const bool is_known = info(slot.failed.reason).is_terminal;
        if (!slot.is_silent && (is_known || is_dispatchable(slot))) {
            list.erase(slot);  // knows it, or has another way; its backoff goes on
            list.push_back(slot);
        } else {
            leave_place(slot);
            dispatch(slot, true, now);
        }
    }
}

}  // namespace reprise::engine
