#include "topology/collections.hpp"

#include <algorithm>

#include <reprise/wire/cluster_messages.hpp>
#include <reprise/wire/error_context.hpp>

#include "connections/kv_connection.hpp"
#include "controlled_backoff.hpp"
#include "operations/status_mapping.hpp"

namespace reprise::engine {

void collections::ask(collection_entry& entry, kv_connection& connection, time_point now) {
    const auto opaque = connection.send_own(
        waiter_kind::collection, wire::opcode::get_collection_id, entry.index,
        wire::get_collection_id_request{entry.path}, context_.actions);
    entry.state = collection_state::asking;
    entry.asked = opaque ? &connection : nullptr;
    entry.opaque = opaque.value_or(0);
    context_.wheel.arm(entry, driver::add_saturated(now, context_.options.internal_timeout));
}

collection_answer collections::on_answer(
    collection_entry& entry, const endpoint_record& asked, const wire::frame_view& frame,
    time_point now) {
    context_.wheel.disarm(entry);
    entry.asked = nullptr;
    if (frame.status() != wire::status::success) {
        return on_refused(entry, asked, frame, now);
    }
    const auto answer = wire::collection_id_response::decode(frame);
    if (!answer) {
        return collection_answer::undecodable;
    }
    entry.state = collection_state::known;
    entry.id = answer->collection;
    entry.stale_answers = 0;
    entry.bucket->manifest_uid_max = std::max(entry.bucket->manifest_uid_max, answer->manifest_uid);
    listener_.wake(entry.waiters, SIZE_MAX, now);
    return collection_answer::taken;
}

// As for every request, statuses that the specifications list are retried; all others are final.
collection_answer collections::on_refused(
    collection_entry& entry, const endpoint_record& asked, const wire::frame_view& frame,
    time_point now) {
    const wire::status status = frame.status();
    if (status == wire::status::unknown_collection || status == wire::status::unknown_scope) {
        on_missing(entry, asked, frame, now);
        return collection_answer::taken;
    }
    response_facts facts;
    facts.status = status;
    facts.error_map = asked.error_map.get();
    const response_outcome outcome = classify(facts);
    if (outcome.kind == outcome_kind::retry) {
        ask_later(entry, asked, outcome.reason, status, now);
        return collection_answer::taken;
    }
    entry.state = collection_state::unknown;
    entry.stale_answers = 0;
    const errc error =
        outcome.error == errc::unsupported_operation ? errc::feature_not_available : outcome.error;
    const bool is_dropped = outcome.drop_connection;
    listener_.on_collection_refused(entry, error, static_cast<std::uint16_t>(status), now);
    return is_dropped ? collection_answer::drop_connection : collection_answer::taken;
}

void collections::on_missing(
    collection_entry& entry, const endpoint_record& asked, const wire::frame_view& frame,
    time_point now) {
    bucket_state& bucket = *entry.bucket;
    const wire::status status = frame.status();
    const retry_reason reason = status == wire::status::unknown_scope
                                    ? retry_reason::scope_not_found
                                    : retry_reason::collection_not_found;
    const auto context = wire::error_context_of(frame);
    const bool is_current =
        !context.manifest_uid || *context.manifest_uid >= bucket.manifest_uid_max;
    if (!is_current) {
        return ask_later(entry, asked, reason, status, now);
    }
    bucket.manifest_uid_max = std::max(bucket.manifest_uid_max, context.manifest_uid.value_or(0));
    entry.state = collection_state::unknown;
    entry.stale_answers = 0;
    listener_.on_collection_missing(entry, reason, static_cast<std::uint16_t>(status), now);
}

// An outdated node, or one that cannot answer now: asks again with increasing delays.
void collections::ask_later(
    collection_entry& entry, const endpoint_record& asked, retry_reason reason, wire::status status,
    time_point now) {
    failed_attempt failed;
    failed.reason = reason;
    failed.stage = attempt_stage::response;
    failed.status = static_cast<std::uint16_t>(status);
    const duration delay = controlled_backoff(entry.stale_answers);
    judge_.report_retry({"get_collection_id", asked, entry.stale_answers}, failed, delay, now);
    ++entry.stale_answers;
    entry.state = collection_state::stale;
    context_.wheel.arm(entry, driver::add_saturated(now, delay));
}

void collections::on_due(collection_entry& entry, time_point now) {
    if (entry.asked != nullptr) {
        entry.asked->abandon(entry.opaque);
    }
    forget(entry, now);
}

void collections::forget(collection_entry& entry, time_point now) {
    context_.wheel.disarm(entry);
    entry.asked = nullptr;
    entry.state = collection_state::unknown;
    listener_.wake(entry.waiters, SIZE_MAX, now);
}

}  // namespace reprise::engine
