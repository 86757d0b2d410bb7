// Operations that wait, and what ends their waiting.

#include <algorithm>
#include <utility>

#include "connections/connections.hpp"
#include "operations/operations.hpp"
#include "topology/terminal_state.hpp"

namespace reprise::engine {

void operations::park(operation_slot& slot, wait_list& list, time_point due) {
    slot.state = operation_state::parked;
    slot.is_silent = false;
    list.push_back(slot);
    ++context_.parked_count;
    context_.wheel.arm(slot, due);
}

void operations::park_silently(operation_slot& slot, wait_list& list, time_point now) {
    if (context_.parked_count >= context_.options.parked_count_max) {
        slot.failed = {};
        slot.failed.reason = retry_reason::socket_not_available;
        slot.last_reason = slot.failed.reason;
        return apply(slot, refused(errc::retry_queue_full, refusal_reason::queue_full), now);
    }
    slot.state = operation_state::parked;
    slot.is_silent = true;
    list.push_back(slot);
    ++context_.parked_count;
    if (slot.deadline != no_deadline) {
        context_.wheel.arm(slot, slot.deadline);
    }
}

// Takes the operation out of its list, its timer and its connection.
void operations::leave_place(operation_slot& slot) {
    context_.wheel.disarm(slot);
    if (slot.list() != nullptr) {
        slot.list()->erase(slot);
    }
    if (slot.state == operation_state::parked || slot.state == operation_state::deciding) {
        --context_.parked_count;
    }
    if (slot.state == operation_state::on_wire && slot.connection != nullptr) {
        if (opaque_entry* entry = slot.connection->waiting.find(slot.sent.opaque)) {
            slot.connection->waiting.abandon(*entry);
        }
    }
    slot.connection = nullptr;
    slot.state = operation_state::running;
}

void operations::on_due(operation_slot& slot, time_point now) {
    if (now >= slot.deadline) {
        return time_out(slot, now);
    }
    leave_place(slot);
    dispatch(slot, false, now);
}

// The cause has ended: everybody who was waiting for it goes on, in the order they came. Those
// behind the first `count_max` have come since, and know it already.
void operations::wake(wait_list& list, std::size_t count_max, time_point now) {
    for (std::size_t left = std::min(list.size(), count_max); left > 0 && !list.empty(); --left) {
        operation_slot& slot = *list.front();
        leave_place(slot);
        dispatch(slot, true, now);
    }
}

// Whether a new revision may cut the operation's wait short, and counts that. Where revisions come
// at a human pace it always may.
bool operations::may_hurry(operation_slot& slot, const bucket_state& bucket) noexcept {
    if (bucket.is_configured_slowly) {
        return true;
    }
    if (slot.hurry_count == hurry_count_max) {
        return false;
    }
    ++slot.hurry_count;
    return true;
}

// Everybody who waits after not-my-vbucket goes by the new revision: now, or soon if revisions
// follow each other so closely that "now" would be a loop.
void operations::wake_for_revision(bucket_state& bucket, time_point now) {
    wait_list& list = bucket.not_my_vbucket_waiters;
    for (std::size_t left = list.size(); left > 0 && !list.empty(); --left) {
        operation_slot& slot = *list.front();
        if (may_hurry(slot, bucket)) {
            leave_place(slot);
            dispatch(slot, true, now);
        } else {
            list.erase(slot);
            list.push_back(slot);
            context_.wheel.arm(slot, std::min(slot.due(), add_saturated(now, hurry_distance)));
        }
    }
}

// What was waited for did not come: those who only waited learn it; those in a backoff learn it
// when that ends.
void operations::wake_silent(wait_list& list, time_point now) {
    for (std::size_t left = list.size(); left > 0 && !list.empty(); --left) {
        operation_slot& slot = *list.front();
        if (slot.is_silent) {
            leave_place(slot);
            dispatch(slot, false, now);
        } else {
            list.erase(slot);
            list.push_back(slot);
        }
    }
}

void operations::on_configuration(bucket_state& bucket, std::size_t waiting_count, time_point now) {
    wake_for_revision(bucket, now);
    wake(bucket.topology_waiters, waiting_count, now);
}

void operations::on_link_failed(node_link& link, time_point now) {
    wake_silent(link.waiters, now);
    wake_silent(link.bucket->topology_waiters, now);
}

void operations::on_link_retired(node_link& link, time_point now) {
    if (kv_connection* connection = link.connection) {
        for (std::size_t left = connection->ready.size(); left > 0; --left) {
            operation_slot& slot = *connection->ready.front();
            leave_place(slot);
            dispatch(slot, true, now);
        }
        parts_.kv_connections.close_drained(*connection, now);
    }
    wake(link.waiters, SIZE_MAX, now);
}

void operations::on_terminal_state(bucket_state& bucket, time_point now) {
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
void operations::wake_if_stuck(wait_list& list, const bucket_state& bucket, time_point now) {
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

void operations::wake_for_terminal_state(wait_list& list, time_point now) {
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

void operations::on_collection_refused(
    collection_entry& entry, errc error, std::uint16_t status, time_point now) {
    while (operation_slot* slot = entry.waiters.front()) {
        leave_place(*slot);
        complete_error(*slot, error, {.status = status}, now);
    }
}

// The waiting operations learn it one by one; those that are retried ask again.
void operations::on_collection_missing(
    collection_entry& entry, retry_reason reason, std::uint16_t status, time_point now) {
    retry_case failed;
    // If several terminal states hold, the first in their order is raised; a name is the last.
    failed.reason = terminal_reason(*entry.bucket).value_or(reason);
    failed.stage = attempt_stage::dispatch;
    failed.own_error = own_error_of(failed.reason);
    failed.status = failed.reason == reason ? status : std::uint16_t{0};
    for (std::size_t left = entry.waiters.size(); left > 0; --left) {
        operation_slot& slot = *entry.waiters.front();
        leave_place(slot);
        retry(slot, failed, now);
    }
}

}  // namespace reprise::engine
