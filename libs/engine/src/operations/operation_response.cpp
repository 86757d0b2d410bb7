// Applies answers to the operations that wait for them.

#include <string>
#include <utility>

#include <reprise/engine/subdoc_words.hpp>

#include "connections/connections.hpp"
#include "operations/key_value_operations.hpp"

namespace reprise::engine {
namespace {

response_facts facts_of(
    const kv_connection& connection, const operation_slot& slot, wire::status status) noexcept {
    response_facts facts;
    facts.kind = slot.request.kind;
    facts.status = status;
    facts.request_cas = slot.request.cas;
    facts.doc_flags = doc_flags_of(slot.request);
    facts.is_scan_created = slot.scan != nullptr && slot.scan->id();
    facts.has_xerror = connection.features.contains(wire::hello_feature::xerror);
    facts.error_map = connection.link->endpoint->error_map.get();
    return facts;
}

}  // namespace

void key_value_operations::on_response(
    kv_connection& connection, std::uint32_t index, const wire::frame_view& frame,
    const frame_source& source, time_point now) {
    operation_slot& slot = endings_.slots().at(index);
    slot.connection = nullptr;
    parts_.life.leave(slot);
    // The meaning of a success needs no further facts.
    if (!wire::is_success(frame.status()) || slot.scan != nullptr) [[unlikely]] {
        return on_other_response(connection, slot, frame, source, now);
    }
    parts_.nodes.breakers_of_nodes().on_success(*connection.link->endpoint, now);
    on_success(connection, slot, frame, source, now);
}

// An answer that is no plain success: an error, that of a scan, or what only the server's error map
// calls a success.
void key_value_operations::on_other_response(
    kv_connection& connection, operation_slot& slot, const wire::frame_view& frame,
    const frame_source& source, time_point now) {
    const wire::status status = frame.status();
    const response_outcome outcome = wire::is_success(status)
                                         ? response_outcome{}
                                         : classify(facts_of(connection, slot, status));
    if (outcome.kind != outcome_kind::success) {
        return on_failure(connection, slot, frame, outcome, now);
    }
    parts_.nodes.breakers_of_nodes().on_success(*connection.link->endpoint, now);
    if (slot.scan == nullptr) {
        return on_success(connection, slot, frame, source, now);
    }
    // A range without documents is complete before it begins.
    return status == wire::status::key_enoent ? endings_.complete(slot, {}, now)
                                              : scans_.on_success(connection, slot, frame, now);
}

void key_value_operations::on_failure(
    kv_connection& connection, operation_slot& slot, const wire::frame_view& frame,
    const response_outcome& outcome, time_point now) {
    endpoint_record& endpoint = *connection.link->endpoint;
    const wire::status status = frame.status();
    parts_.nodes.breakers_of_nodes().on_outcome(endpoint, outcome.error, now);
    if (slot.request.kind == operation_kind::exists && status == wire::status::key_enoent) {
        return endings_.complete(slot, {}, now);
    }
    // Keeps the map alive during this call: `entry` points into it, and the connection may close.
    const std::shared_ptr<const wire::error_map> map = endpoint.error_map;
    bucket_state& bucket = *connection.link->bucket;
    if (outcome.kind == outcome_kind::retry) {
        on_retryable(slot, frame, endpoint.host, outcome, now);
    } else {
        failure_note note;
        note.status = static_cast<std::uint16_t>(status);
        note.entry = outcome.entry;
        note.context = wire::error_context_of(frame);
        endings_.complete_error(slot, outcome.error, std::move(note), now);
    }
    // Afterwards: other operations end with the connection, and code of the user may then cancel
    // this one.
    if (outcome.drop_connection) {
        parts_.kv_connections.fail(
            connection, "the server's status requires a new connection", now);
    }
    if (outcome.fetch_configuration) {
        parts_.polls.want(bucket, now);
    }
}

void key_value_operations::on_success(
    kv_connection& connection, operation_slot& slot, const wire::frame_view& frame,
    const frame_source& source, time_point now) {
    operation_lifecycle::ended_operation& ended = parts_.life.begin_end();
    operation_result& result = ended.result;
    result.vbucket = slot.vbucket;
    result.bucket = &connection.link->bucket->name;
    const wire::error_map* const map = connection.link->endpoint->error_map.get();
    if (const auto failed = decode_result({slot.request, frame, source, map, result}))
        [[unlikely]] {
        parts_.life.drop_end();
        return on_unreadable(connection, slot, frame, failed, now);
    }
    endings_.complete_begun(slot, ended, now);
}

// The answer's status is a success, but its body contradicts that or cannot be decoded.
void key_value_operations::on_unreadable(
    kv_connection& connection, operation_slot& slot, const wire::frame_view& frame,
    const decoding_error& error, time_point now) {
    const wire::error_map* const map = connection.link->endpoint->error_map.get();
    failure_note note;
    note.failed_path = error.failed_path;
    note.status = error.failed_path ? error.status : static_cast<std::uint16_t>(frame.status());
    if (error.failed_path && map != nullptr &&
        !wire::is_known_to_client(static_cast<wire::status>(error.status))) {
        note.entry = map->find(error.status);
    }
    note.detail = error.failed_path ? "path " + std::to_string(*error.failed_path) + " failed"
                                    : std::string(error.detail);
    const bool is_malformed = error.code == errc::decoding_failure;
    // The server has executed the operation; only its answer cannot be decoded.
    note.is_ambiguous = is_malformed && !slot.is_idempotent;
    if (!is_malformed) {
        return endings_.complete_error(slot, error.code, std::move(note), now);
    }
    fail_unclassified(slot, error.code, std::move(note), now);
    parts_.kv_connections.fail(connection, "an answer that cannot be decoded", now);
}

void key_value_operations::on_retryable(
    operation_slot& slot, const wire::frame_view& frame, std::string_view host,
    const response_outcome& outcome, time_point now) {
    bucket_state& bucket = routes_.bucket_of(slot);
    retry_case failed;
    failed.reason = outcome.reason;
    failed.stage = attempt_stage::response;
    failed.own_error = outcome.error;
    failed.status = static_cast<std::uint16_t>(frame.status());
    const bool has_spec = outcome.entry != nullptr && outcome.entry->retry;
    failed.server_rule =
        slot.schedule.on_failure(failed.status, has_spec ? &*outcome.entry->retry : nullptr, now);
    failed.is_server_rule_unusable =
        outcome.entry != nullptr && outcome.entry->is_retry_spec_unusable;
    if (outcome.reason == retry_reason::kv_not_my_vbucket) {
        bool is_newer_config = false;
        if (!frame.value().empty()) {
            if (const auto text = inflated_text(frame)) {
                is_newer_config =
                    parts_.nodes.apply(bucket, *text, host, now) == configuration_effect::applied;
            }
        }
        if (!is_newer_config) {
            parts_.polls.want(bucket, now);
        }
        // A NOOP is not routed. A server that answers it with not-my-vbucket is wrong and must not
        // cause an immediate retry.
        if (bucket.configuration && slot.route.node) {
            const route_step step = on_not_my_vbucket(
                *bucket.configuration, slot.vbucket.value, slot.request.replica, slot.route);
            if (step == route_step::at_once) {
                failed.delay_max = duration::zero();
            } else if (step == route_step::newer_map) {
                failed.delay_max = waiting_operations::may_retry_early(slot, bucket)
                                       ? duration::zero()
                                       : context_.options.revision_delay_max;
            }
        }
    } else if (outcome.reason == retry_reason::kv_collection_outdated) {
        collection_entry& entry = *parts_.nodes.buckets()[slot.request.keyspace].entry;
        if (const auto said = wire::error_context_of(frame); said.manifest_uid) {
            bucket.manifest_uid_max = std::max(bucket.manifest_uid_max, *said.manifest_uid);
        }
        if (entry.state == collection_state::known) {
            entry.state = collection_state::unknown;
        }
    }
    retry(slot, failed, now);
}

}  // namespace reprise::engine
