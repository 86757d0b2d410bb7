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
    context_.wheel.arm(entry, add_saturated(now, context_.options.internal_timeout));
}

bool collections::on_answer(
    collection_entry& entry, const endpoint_record& asked, const wire::frame_view& frame,
    time_point now) {
    context_.wheel.disarm(entry);
    entry.asked = nullptr;
    if (frame.status() != wire::status::success) {
        on_refused(entry, asked, frame, now);
        return true;
    }
    const auto answer = wire::collection_id_response::decode(frame);
    if (!answer) {
        return false;
    }
    entry.state = collection_state::known;
    entry.id = answer->collection;
    entry.stale_answers = 0;
    entry.bucket->manifest_uid_max = std::max(entry.bucket->manifest_uid_max, answer->manifest_uid);
    listener_.wake(entry.waiters, SIZE_MAX, now);
    return true;
}

void collections::on_refused(
    collection_entry& entry, const endpoint_record& asked, const wire::frame_view& frame,
    time_point now) {
    bucket_state& bucket = *entry.bucket;
    const wire::status status = frame.status();
    const auto code = static_cast<std::uint16_t>(status);
    const bool is_missing =
        status == wire::status::unknown_collection || status == wire::status::unknown_scope;
    const auto context = wire::error_context_of(frame);
    const bool is_current =
        !context.manifest_uid || *context.manifest_uid >= bucket.manifest_uid_max;
    if (is_missing && is_current) {
        bucket.manifest_uid_max =
            std::max(bucket.manifest_uid_max, context.manifest_uid.value_or(0));
        entry.state = collection_state::unknown;
        entry.stale_answers = 0;
        return listener_.on_collection_missing(
            entry,
            status == wire::status::unknown_scope ? retry_reason::scope_not_found
                                                  : retry_reason::collection_not_found,
            code, now);
    }
    if (status == wire::status::einval || status == wire::status::unknown_command ||
        status == wire::status::not_supported) {
        entry.state = collection_state::unknown;
        const errc error =
            status == wire::status::einval ? errc::invalid_argument : errc::feature_not_available;
        return listener_.on_collection_refused(entry, error, code, now);
    }
    ask_later(entry, asked, status, now);
}

// An outdated node, or one that cannot answer now: asks again with increasing delays.
void collections::ask_later(
    collection_entry& entry, const endpoint_record& asked, wire::status status, time_point now) {
    failed_attempt failed;
    failed.stage = attempt_stage::response;
    failed.status = static_cast<std::uint16_t>(status);
    if (status == wire::status::unknown_scope) {
        failed.reason = retry_reason::scope_not_found;
    } else if (status == wire::status::unknown_collection) {
        failed.reason = retry_reason::collection_not_found;
    } else {
        response_facts facts;
        facts.status = status;
        facts.error_map = asked.error_map.get();
        const response_outcome outcome = classify(facts);
        failed.reason = outcome.kind == outcome_kind::retry ? outcome.reason
                                                            : retry_reason::kv_temporary_failure;
    }
    const duration delay = controlled_backoff(entry.stale_answers);
    judge_.report_retry({"get_collection_id", asked, entry.stale_answers}, failed, delay, now);
    ++entry.stale_answers;
    entry.state = collection_state::stale;
    context_.wheel.arm(entry, add_saturated(now, delay));
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
