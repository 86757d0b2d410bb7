// Parks operations, and wakes them.

#include <algorithm>
#include <utility>

#include "connections/connections.hpp"
#include "operations/operations.hpp"
#include "topology/terminal_state.hpp"

namespace reprise::engine {

void operations::park_silently(operation_slot& slot, wait_list& list, time_point now) {
    if (!parts_.life.has_place()) {
        return apply(slot, parts_.life.refuse_place(slot, now), now);
    }
    parts_.life.park_silently(slot, list, slot.deadline);
}

// Removes the operation from its list, its timer and its connection.
void operations::leave_place(operation_slot& slot) {
    if (slot.state == operation_state::in_flight && slot.connection != nullptr) {
        if (opaque_entry* entry = slot.connection->waiting.find(slot.sent.opaque)) {
            slot.connection->waiting.abandon(*entry);
        }
    }
    slot.connection = nullptr;
    parts_.life.leave(slot);
}

// From wherever it waits back to dispatch.
void operations::resume(operation_slot& slot, bool is_woken, time_point now) {
    leave_place(slot);
    dispatch(slot, is_woken, now);
}

template <class Goes>
void operations::wake_if(wait_list& list, bool is_woken, time_point now, Goes&& goes) {
    lifecycle::wake_if(list, goes, [&](operation_slot& slot) { resume(slot, is_woken, now); });
}

void operations::on_due(operation_slot& slot, time_point now) {
    if (now >= slot.deadline) {
        return time_out(slot, now);
    }
    resume(slot, false, now);
}

// The cause of the wait has ended: dispatches the waiting operations in the order of their arrival.
// Only the first `count_max` are affected; the others arrived after the change and have taken it
// into account.
void operations::wake(wait_list& list, std::size_t count_max, time_point now) {
    const auto always = [](const operation_slot&) { return true; };
    const auto go = [&](operation_slot& slot) { resume(slot, true, now); };
    lifecycle::wake_if(list, always, go, count_max);
}

// Whether a new revision may cut the operation's wait short. Counts each time it does. If revisions
// arrive slowly, it always may.
bool operations::may_retry_early(operation_slot& slot, const bucket_state& bucket) noexcept {
    if (bucket.is_configured_slowly) {
        return true;
    }
    if (slot.hurry_count == hurry_count_max) {
        return false;
    }
    ++slot.hurry_count;
    return true;
}

// Operations that wait after not-my-vbucket use the new revision: now, or after a short delay if
// revisions arrive so fast that retrying now would be a loop.
void operations::wake_for_revision(bucket_state& bucket, time_point now) {
    wake_if(bucket.not_my_vbucket_waiters, true, now, [&](operation_slot& slot) {
        if (may_retry_early(slot, bucket)) {
            return true;
        }
        context_.wheel.arm(
            slot, std::min(slot.due(), add_saturated(now, context_.options.revision_delay_max)));
        return false;
    });
}

// The awaited event did not happen. Operations that only wait for it are dispatched again and fail;
// operations in a backoff find out when it ends.
void operations::wake_silent(wait_list& list, time_point now) {
    wake_if(list, false, now, [](const operation_slot& slot) { return slot.is_silent; });
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
        wake(connection->ready, SIZE_MAX, now);
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

// These operations do not wait for a connection, so a backoff continues if a way is open. Without a
// way they would only find out later that they cannot be sent.
void operations::wake_if_stuck(wait_list& list, const bucket_state& bucket, time_point now) {
    wake_if(list, true, now, [&](const operation_slot& slot) {
        return &bucket_of(slot) == &bucket && !is_dispatchable(slot);
    });
}

// Operations that already failed with it, or have another way, continue their backoff.
void operations::wake_for_terminal_state(wait_list& list, time_point now) {
    wake_if(list, true, now, [&](const operation_slot& slot) {
        const bool is_known = info(slot.failed.reason).is_terminal;
        return slot.is_silent || (!is_known && !is_dispatchable(slot));
    });
}

void operations::on_collection_refused(
    collection_entry& entry, errc error, std::uint16_t status, time_point now) {
    while (operation_slot* slot = entry.waiters.front()) {
        leave_place(*slot);
        complete_error(*slot, error, {.status = status}, now);
    }
}

// Fails the attempt of each waiting operation. Those that are retried ask for the id again.
void operations::on_collection_missing(
    collection_entry& entry, retry_reason reason, std::uint16_t status, time_point now) {
    retry_case failed;
    // If several terminal states apply, the first in their order is raised. An unknown name is the
    // last.
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
