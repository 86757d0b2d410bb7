// Parks operations, and wakes them.

#include <algorithm>

#include "connections/connections.hpp"
#include "operations/key_value_operations.hpp"
#include "topology/terminal_state.hpp"

namespace reprise::engine {

void waiting_operations::park(operation_slot& slot, const retry_outcome& decided, time_point now) {
    life_.park(slot, list_for(slot), driver::add_saturated(now, decided.delay));
}

// The strategy's initial token has a delay.
void waiting_operations::park_before_start(operation_slot& slot, duration delay, time_point now) {
    if (!life_.has_place()) {
        return requests_.apply(slot, life_.refuse_place(slot, now), now);
    }
    life_.park(slot, backoff_waiters_, std::min(driver::add_saturated(now, delay), slot.deadline));
}

// The list in which an operation waits determines what wakes it early.
wait_list& waiting_operations::list_for(operation_slot& slot) {
    bucket_state& bucket = routes_.bucket_of(slot);
    if (slot.failed.reason == retry_reason::kv_not_my_vbucket) {
        return bucket.not_my_vbucket_waiters;
    }
    if (!info(slot.failed.reason).is_about_connection) {
        return backoff_waiters_;
    }
    // Operations without a route wake on any change of the bucket.
    node_link* link = routes_.link_of(slot);
    return link != nullptr ? link->waiters : bucket.topology_waiters;
}

void waiting_operations::park_without_retry(operation_slot& slot, wait_list& list, time_point now) {
    if (!life_.has_place()) {
        return requests_.apply(slot, life_.refuse_place(slot, now), now);
    }
    life_.park_without_retry(slot, list, slot.deadline);
}

void waiting_operations::leave(operation_slot& slot) {
    if (slot.state == operation_state::in_flight && slot.connection != nullptr) {
        if (opaque_entry* entry = slot.connection->waiting.find(slot.sent.opaque)) {
            slot.connection->waiting.abandon(*entry);
        }
    }
    slot.connection = nullptr;
    life_.leave(slot);
}

void waiting_operations::resume(operation_slot& slot, bool is_woken, time_point now) {
    leave(slot);
    requests_.dispatch(slot, is_woken, now);
}

template <class Goes>
void waiting_operations::wake_if(wait_list& list, bool is_woken, time_point now, Goes&& goes) {
    operation_lifecycle::wake_if(
        list, goes, [&](operation_slot& slot) { resume(slot, is_woken, now); });
}

// The cause of the wait has ended: dispatches the waiting operations in the order of their arrival.
// Only the first `count_max` are affected; the others arrived after the change and have taken it
// into account.
void waiting_operations::wake(wait_list& list, std::size_t count_max, time_point now) {
    std::size_t budget = wake_count_max;
    wake_some({&list, count_max, wake_cause::resource}, budget, now);
}

void waiting_operations::wake_some(unfinished_wake wake, std::size_t& budget, time_point now) {
    wait_list& list = *wake.list;
    const auto earlier = std::ranges::find(unfinished_, &list, &unfinished_wake::list);
    if (earlier != unfinished_.end()) {  // the next turns continue with both
        earlier->left = std::max(wake.left, earlier->left);
        return;
    }
    wake.left = std::min(wake.left, list.size());
    const std::size_t part = std::min(wake.left, budget);
    budget -= part;
    wake.left -= part;
    if (wake.left > 0) {
        // Recorded first, since a dispatched operation may cause another wake-up of the same list.
        unfinished_.push_back(wake);
        context_.wheel.arm(next_wake_, driver::add_saturated(now, base::timer_wheel::tick));
    }
    operation_lifecycle::wake_if(
        list, [&](operation_slot& slot) { return goes_now(slot, wake.cause, now); },
        [&](operation_slot& slot) { resume(slot, true, now); }, part);
}

void waiting_operations::wake_more(time_point now) {
    std::size_t budget = wake_count_max;
    for (std::size_t lists = unfinished_.size(); lists > 0 && budget > 0; --lists) {
        if (unfinished_.empty()) {
            return;  // the operations of the others have ended or were woken by another event
        }
        const unfinished_wake next = unfinished_.front();
        unfinished_.erase(unfinished_.begin());
        wake_some(next, budget, now);
    }
    if (!unfinished_.empty()) {
        context_.wheel.arm(next_wake_, driver::add_saturated(now, base::timer_wheel::tick));
    }
}

void waiting_operations::wake_all(wait_list& list, time_point now) {
    wake_if(list, true, now, [](const operation_slot&) { return true; });
    std::erase_if(unfinished_, [&](const unfinished_wake& each) { return each.list == &list; });
}

void waiting_operations::close() noexcept {
    unfinished_.clear();
    context_.wheel.disarm(next_wake_);
}

bool waiting_operations::may_retry_early(
    operation_slot& slot, const bucket_state& bucket) noexcept {
    if (bucket.is_configured_slowly) {
        return true;
    }
    if (slot.skipped_backoffs == skipped_backoffs_max) {
        return false;
    }
    ++slot.skipped_backoffs;
    return true;
}

// Operations that wait after not-my-vbucket use the new revision: now, or after a short delay if
// revisions arrive so fast that retrying now would be a loop.
bool waiting_operations::goes_now(operation_slot& slot, wake_cause cause, time_point now) {
    if (cause == wake_cause::resource || may_retry_early(slot, routes_.bucket_of(slot))) {
        return true;
    }
    context_.wheel.arm(
        slot,
        std::min(slot.due(), driver::add_saturated(now, context_.options.revision_delay_max)));
    return false;
}

// The awaited event did not happen. Operations that only wait for it are dispatched again and fail;
// operations in a backoff find out when it ends.
void waiting_operations::wake_silent(wait_list& list, time_point now) {
    wake_if(list, false, now, [](const operation_slot& slot) { return slot.is_silent; });
}

void waiting_operations::on_configuration(
    bucket_state& bucket, std::size_t waiting_count, time_point now) {
    std::size_t budget = wake_count_max;
    wake_some({&bucket.not_my_vbucket_waiters, SIZE_MAX, wake_cause::revision}, budget, now);
    wake_some({&bucket.topology_waiters, waiting_count, wake_cause::resource}, budget, now);
}

void waiting_operations::on_link_failed(node_link& link, time_point now) {
    wake_silent(link.waiters, now);
    wake_silent(link.bucket->topology_waiters, now);
}

void waiting_operations::on_link_retired(node_link& link, time_point now) {
    if (kv_connection* connection = link.connection) {
        wake_all(connection->ready, now);
        kv_connections_.close_drained(*connection, now);
    }
    wake_all(link.waiters, now);
}

void waiting_operations::on_terminal_state(bucket_state& bucket, time_point now) {
    wake_for_terminal_state(bucket.topology_waiters, now);
    for (std::size_t index = 0; index < bucket.links.size(); ++index) {
        wake_for_terminal_state(bucket.links[index]->waiters, now);
    }
    wake_if_stuck(bucket.not_my_vbucket_waiters, bucket, now);
    wake_if_stuck(backoff_waiters_, bucket, now);
    for (std::size_t index = 0; index < bucket.collections.size(); ++index) {
        wake_if_stuck(bucket.collections[index]->waiters, bucket, now);
    }
}

// These operations do not wait for a connection, so a backoff continues if a way is open. Without a
// way they would only find out later that they cannot be sent.
void waiting_operations::wake_if_stuck(
    wait_list& list, const bucket_state& bucket, time_point now) {
    wake_if(list, true, now, [&](const operation_slot& slot) {
        return &routes_.bucket_of(slot) == &bucket && !routes_.is_dispatchable(slot);
    });
}

// Operations that already failed with it, or have another way, continue their backoff.
void waiting_operations::wake_for_terminal_state(wait_list& list, time_point now) {
    wake_if(list, true, now, [&](const operation_slot& slot) {
        const bool is_known = info(slot.failed.reason).is_terminal();
        return slot.is_silent || (!is_known && !routes_.is_dispatchable(slot));
    });
}

void waiting_operations::on_collection_refused(
    collection_entry& entry, errc error, std::uint16_t status, time_point now) {
    while (operation_slot* slot = entry.waiters.front()) {
        leave(*slot);
        endings_.complete_error(*slot, error, {.status = status}, now);
    }
}

// Fails the attempt of each waiting operation. Those that are retried ask for the id again.
void waiting_operations::on_collection_missing(
    collection_entry& entry, retry_reason reason, std::uint16_t status, time_point now) {
    retry_case failed;
    // If several terminal states apply, the first in their order is raised. An unknown name is the
    // last.
    failed.reason = terminal_reason(*entry.bucket).value_or(reason);
    failed.stage = attempt_stage::dispatch;
    failed.own_error = own_error_of(failed.reason);
    failed.status = failed.reason == reason ? status : std::uint16_t{0};
    for (std::size_t left = entry.waiters.size(); left > 0 && !entry.waiters.empty(); --left) {
        operation_slot& slot = *entry.waiters.front();
        leave(slot);
        requests_.retry(slot, failed, now);
    }
}

}  // namespace reprise::engine
