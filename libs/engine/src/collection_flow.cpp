// Operations that need the id of a collection.

#include <algorithm>
#include <utility>

#include "engine_core.hpp"

namespace reprise::engine {

void engine_core::await_collection(operation_slot& slot, collection_entry& entry, time_point now) {
    bucket_state& bucket = *entry.bucket;
    const bool is_stuck = terminal_reason(bucket) && !is_dispatchable(slot);
    if (entry.state != collection_state::unknown && !is_stuck) {
        return park_silently(slot, entry.waiters, now);
    }
    kv_connection* connection = any_open(bucket, bucket.noop_next);
    if (connection == nullptr) {
        return wait_for_topology(slot, bucket, now);
    }
    if (!connection->features.contains(wire::hello_feature::collections)) {
        return complete_error(
            slot, errc::feature_not_available, {.detail = "the server has no collections"}, now);
    }
    // Sent also if the operation finds no place to wait: the next one will want it.
    collections_.ask(entry, *connection, now);
    park_silently(slot, entry.waiters, now);
}

void engine_core::on_collection_refused(
    collection_entry& entry, errc error, std::uint16_t status, time_point now) {
    while (operation_slot* slot = entry.waiters.front()) {
        leave_place(*slot);
        complete_error(*slot, error, {.status = status}, now);
    }
}

void engine_core::report_retry(
    const own_failure& what, const failed_attempt& failed, duration delay, time_point now) {
    retry_outcome decided;
    decided.is_retry = true;
    decided.delay = delay;
    decided_attempt reported{what.operation, failed, decided, what.retries};
    reported.endpoint = static_cast<std::int32_t>(what.asked.number);
    tell(reported, now);
}

// The waiting operations learn it one by one; whoever is retried asks again.
void engine_core::on_collection_missing(
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
