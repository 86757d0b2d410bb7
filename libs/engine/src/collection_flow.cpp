// Collection ids: asked once for each name, kept until a server does not know them any more.

#include <algorithm>
#include <utility>

#include <reprise/engine/shipped_strategies.hpp>
#include <reprise/wire/cluster_messages.hpp>

#include "engine_core.hpp"

namespace reprise::engine {

void engine_core::await_collection(operation_slot& slot, collection_entry& entry, time_point now) {
    bucket_state& bucket = *entry.bucket;
    const bool is_stuck = terminal_reason(bucket) && !is_dispatchable(slot);
    if (entry.state != collection_state::unknown && !is_stuck) {
        return park_silently(slot, entry.waiters, now);
    }
    kv_connection* connection = any_open(bucket, bucket.noop_turn);
    if (connection == nullptr) {
        return wait_for_topology(slot, bucket, now);
    }
    if (!connection->features.contains(wire::hello_feature::collections)) {
        return complete_error(
            slot, errc::feature_not_available, {.detail = "the server has no collections"}, now);
    }
    // Sent also if the operation finds no place to wait: the next one will want it.
    ask(entry, *connection, now);
    park_silently(slot, entry.waiters, now);
}

void engine_core::ask(collection_entry& entry, kv_connection& connection, time_point now) {
    const auto opaque = send_own(
        connection, waiter_kind::collection, wire::opcode::get_collection_id, entry.index,
        wire::get_collection_id_request{entry.path});
    entry.state = collection_state::asking;
    entry.asked = opaque ? &connection : nullptr;
    entry.opaque = opaque.value_or(0);
    wheel_.arm(entry, add_saturated(now, options_.internal_timeout));
}

void engine_core::on_collection_answer(
    collection_entry& entry, kv_connection& connection, const wire::frame_view& frame,
    time_point now) {
    wheel_.disarm(entry);
    entry.asked = nullptr;
    bucket_state& bucket = *entry.bucket;
    if (frame.status() == wire::status::success) {
        const auto answer = wire::collection_id_response::decode(frame);
        if (!answer) {
            fail_connection(connection, "an answer that cannot be decoded", now);
            return forget_question(entry, now);
        }
        entry.state = collection_state::known;
        entry.id = answer->collection;
        entry.stale_answers = 0;
        bucket.manifest_uid_max = std::max(bucket.manifest_uid_max, answer->manifest_uid);
        return wake(entry.waiters, now);
    }
    const bool is_missing = frame.status() == wire::status::unknown_collection ||
                            frame.status() == wire::status::unknown_scope;
    const auto said = wire::error_context_of(frame);
    const bool is_current = !said.manifest_uid || *said.manifest_uid >= bucket.manifest_uid_max;
    if (is_missing && is_current) {
        bucket.manifest_uid_max = std::max(bucket.manifest_uid_max, said.manifest_uid.value_or(0));
        return on_collection_missing(
            entry,
            frame.status() == wire::status::unknown_scope ? retry_reason::scope_not_found
                                                          : retry_reason::collection_not_found,
            static_cast<std::uint16_t>(frame.status()), now);
    }
    if (frame.status() == wire::status::einval || frame.status() == wire::status::unknown_command ||
        frame.status() == wire::status::not_supported) {
        entry.state = collection_state::unknown;
        const errc error = frame.status() == wire::status::einval ? errc::invalid_argument
                                                                  : errc::feature_not_available;
        while (operation_slot* slot = entry.waiters.front()) {
            leave_place(*slot);
            complete_error(
                *slot, error, {.status = static_cast<std::uint16_t>(frame.status())}, now);
        }
        return;
    }
    ask_later(entry, *connection.link->endpoint, frame, now);
}

// A node behind its peers, or one that cannot answer now: ask again, less and less often.
void engine_core::ask_later(
    collection_entry& entry, const endpoint_record& asked, const wire::frame_view& frame,
    time_point now) {
    failed_attempt failed;
    failed.stage = attempt_stage::response;
    failed.status = static_cast<std::uint16_t>(frame.status());
    if (frame.status() == wire::status::unknown_scope) {
        failed.reason = retry_reason::scope_not_found;
    } else if (frame.status() == wire::status::unknown_collection) {
        failed.reason = retry_reason::collection_not_found;
    } else {
        response_facts facts;
        facts.status = frame.status();
        facts.error_map = asked.error_map.get();
        const response_outcome outcome = classify(facts);
        failed.reason = outcome.kind == outcome_kind::retry ? outcome.reason
                                                            : retry_reason::kv_temporary_failure;
    }
    verdict decided;
    decided.is_retry = true;
    decided.delay = controlled_backoff(entry.stale_answers);
    decided_attempt what{"get_collection_id", failed, decided, entry.stale_answers};
    what.endpoint = static_cast<std::int32_t>(asked.number);
    tell(what, now);
    ++entry.stale_answers;
    entry.state = collection_state::stale;
    wheel_.arm(entry, add_saturated(now, decided.delay));
}

// The waiting operations learn it one by one; whoever is retried asks again.
void engine_core::on_collection_missing(
    collection_entry& entry, retry_reason reason, std::uint16_t status, time_point now) {
    entry.state = collection_state::unknown;
    entry.stale_answers = 0;
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

// The answer is overdue, or it is time to ask again.
void engine_core::on_collection_due(collection_entry& entry, time_point now) {
    if (entry.asked != nullptr) {
        if (opaque_entry* overdue = entry.asked->waiting.find(entry.opaque)) {
            entry.asked->waiting.abandon(*overdue);
        }
    }
    forget_question(entry, now);
}

// Nobody will answer: those who wait ask anew, by another connection if need be.
void engine_core::forget_question(collection_entry& entry, time_point now) {
    wheel_.disarm(entry);
    entry.asked = nullptr;
    entry.state = collection_state::unknown;
    wake(entry.waiters, now);
}

}  // namespace reprise::engine
