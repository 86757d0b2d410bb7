// Takes an operation from its start to the ready list of a connection.

#include <algorithm>
#include <memory>
#include <utility>

#include "operations/key_value_operations.hpp"
#include "operations/request_encoding.hpp"
#include "topology/terminal_state.hpp"

namespace reprise::engine {
namespace {

// The first attempt to connect is still pending: a reason to wait, not a failure.
bool is_still_connecting(const node_link& link) noexcept {
    return !link.has_failed && !link.was_open;
}

}  // namespace

operation_id key_value_operations::start(
    operation_request&& request, completion&& done, time_point now) {
    return begin(endings_.slots().acquire(std::move(request)), std::move(done), now);
}

operation_id key_value_operations::start(
    keyspace_id where, document_call&& call, completion&& done, time_point now) {
    return begin(endings_.slots().acquire(where, std::move(call)), std::move(done), now);
}

operation_id key_value_operations::begin(operation_slot& slot, completion&& done, time_point now) {
    REPRISE_ASSERT(parts_.nodes.buckets().contains(slot.request.keyspace));
    collection_entry& asked = parts_.nodes.buckets().collection(slot.request.keyspace);
    const operation_id id = slot.id();
    slot.is_idempotent = is_idempotent(slot.request.kind);
    if (slot.request.scan && slot.request.scan->asked != nullptr) {
        const vbucket_scan& scan = *slot.request.scan;
        slot.scan = std::make_unique<scan_progress>(*scan.asked, scan.vbucket, asked.bucket->name);
    }
    const duration usual = slot.request.durability == durability_level::none
                               ? context_.options.kv_timeout
                               : context_.options.kv_durable_timeout;
    parts_.life.start(
        slot, std::move(done), {slot.request.timeout, usual, slot.request.deadline}, now);
    if (parts_.decider.watch().is_on()) [[unlikely]] {
        parts_.decider.watch().on_start(
            names_of(slot), asked.bucket->name, slot.request.own_user_data());
    }
    const duration delay = parts_.decider.begin(slot, now);
    if (context_.is_closed) [[unlikely]] {
        refuse(slot, {"the client is closed", errc::request_canceled}, now);
        return id;
    }
    const encoding_error failed = check_request(slot.request, !asked.is_default);
    if (failed) [[unlikely]] {
        refuse(slot, failed, now);
    } else if (slot.deadline <= now) {
        time_out(slot, now);
    } else if (delay > duration::zero()) {
        waiting_.park_before_start(slot, delay, now);
    } else {
        dispatch_inline(slot, asked, false, now);
    }
    return id;
}

// Ends an operation that cannot be sent.
void key_value_operations::refuse(operation_slot& slot, encoding_error error, time_point now) {
    endings_.complete_error(slot, error.code, {.detail = error.detail}, now);
}

void key_value_operations::dispatch(operation_slot& slot, bool is_woken, time_point now) {
    dispatch_inline(slot, parts_.nodes.buckets().collection(slot.request.keyspace), is_woken, now);
}

void key_value_operations::dispatch_inline(
    operation_slot& slot, collection_entry& asked, bool is_woken, time_point now) {
    slot.endpoint = -1;
    bucket_state& bucket = *asked.bucket;
    parts_.nodes.open(bucket, now);
    if (slot.request.kind == operation_kind::noop) {
        return dispatch_noop(slot, bucket, now);
    }
    if (!bucket.configuration) {
        return wait_for_topology(slot, bucket, now);
    }
    if (bucket.configuration->locator() != wire::node_locator::vbucket) {
        return fail_without_vbuckets(slot, now);
    }
    if (bucket.configuration->vbucket_count() == 0) {
        return dispatch_failed(slot, retry_reason::node_not_available, now);
    }
    if (asked.state != collection_state::known) {
        return await_collection(slot, asked, now);
    }
    slot.vbucket = operation_routes::vbucket_of(slot, bucket.configuration->vbucket_count());
    if (slot.request.scan && !scans_.may_start(slot, bucket, now)) [[unlikely]] {
        return;
    }
    if (!choose_node(*bucket.configuration, slot.vbucket.value, slot.request.replica, slot.route)) {
        return dispatch_failed(slot, retry_reason::node_not_available, now);
    }
    node_link* link = bucket.routes[routes_.place_of(slot)];
    if (link == nullptr) [[unlikely]] {
        const bool is_nowhere = std::ranges::all_of(
            bucket.routes, [](const node_link* route) { return route == nullptr; });
        return dispatch_failed(
            slot,
            is_nowhere ? retry_reason::service_not_available : retry_reason::node_not_available,
            now);
    }
    submit(slot, *link, is_woken, now);
}

// A NOOP to a bucket proves that operations could be sent, so only a node that owns vbuckets may
// answer it.
void key_value_operations::dispatch_noop(
    operation_slot& slot, bucket_state& bucket, time_point now) {
    const bool is_of_bucket = !bucket.name.empty();
    if (node_link* link = operation_routes::named_link(slot, bucket)) {
        return submit(slot, *link, false, now);
    }
    if (!slot.request.key.empty()) {
        return dispatch_failed(slot, retry_reason::node_not_available, now);
    }
    if (is_of_bucket && bucket.configuration) {
        if (bucket.configuration->locator() != wire::node_locator::vbucket) {
            return fail_without_vbuckets(slot, now);
        }
        if (!bucket.configuration->has_owners()) {
            return dispatch_failed(slot, retry_reason::node_not_available, now);
        }
    }
    for (std::size_t left = bucket.links.size(); left > 0; --left) {
        kv_connection* connection = parts_.nodes.any_open(bucket, bucket.noop_next);
        if (connection == nullptr) {
            break;
        }
        if (is_of_bucket && !connection->link->is_owner) {
            continue;
        }
        slot.endpoint = static_cast<std::int32_t>(connection->link->endpoint->number);
        if (breakers::allow(*connection->link->endpoint)) {
            return make_ready(slot, *connection, now);
        }
    }
    if (slot.endpoint >= 0) {
        return breaker_refused(slot, now);
    }
    wait_for_topology(slot, bucket, now);
}

void key_value_operations::fail_without_vbuckets(operation_slot& slot, time_point now) {
    endings_.complete_error(
        slot, errc::feature_not_available,
        {.detail = "the bucket has no vbuckets; such buckets are not supported"}, now);
}

void key_value_operations::await_collection(
    operation_slot& slot, collection_entry& entry, time_point now) {
    bucket_state& bucket = *entry.bucket;
    const bool is_stuck = terminal_reason(bucket) && !routes_.is_dispatchable(slot);
    if (entry.state != collection_state::unknown && !is_stuck) {
        return waiting_.park_without_retry(slot, entry.waiters, now);
    }
    kv_connection* connection = parts_.nodes.any_open(bucket, bucket.noop_next);
    if (connection == nullptr) {
        return wait_for_topology(slot, bucket, now);
    }
    if (!connection->features.contains(wire::hello_feature::collections)) {
        return endings_.complete_error(
            slot, errc::feature_not_available, {.detail = "the server has no collections"}, now);
    }
    // Asks for the id even if the operation finds no place to wait, because the next one will need
    // it.
    parts_.collection_ids.ask(entry, *connection, now);
    waiting_.park_without_retry(slot, entry.waiters, now);
}

void key_value_operations::submit(
    operation_slot& slot, node_link& link, bool is_woken, time_point now) {
    slot.endpoint = static_cast<std::int32_t>(link.endpoint->number);
    kv_connection* connection = link.connection;
    if (connection != nullptr && connection->is_open()) {
        if (!breakers::allow(*link.endpoint)) {
            return breaker_refused(slot, now);
        }
        if (!is_woken && connection->ready.size() >= context_.options.ready_count_max) {
            return dispatch_failed(slot, retry_reason::socket_not_available, now);
        }
        return make_ready(slot, *connection, now);
    }
    parts_.nodes.hurry(link, now);
    if (is_still_connecting(link) && !terminal_reason(*link.bucket)) {
        return waiting_.park_without_retry(slot, link.waiters, now);
    }
    dispatch_failed(
        slot,
        link.has_failed ? retry_reason::node_not_available : retry_reason::socket_not_available,
        now);
}

void key_value_operations::make_ready(
    operation_slot& slot, kv_connection& connection, time_point now) {
    if (slot.progress.is_charge_pending()) {
        if (const auto refusal = parts_.life.charge(slot, now)) {
            return apply(slot, *refusal, now);
        }
    }
    slot.connection = &connection;
    parts_.life.queue_ready(slot, connection.ready);
    connection.request_write(context_.actions);
}

// No configuration or no connection is available.
void key_value_operations::wait_for_topology(
    operation_slot& slot, bucket_state& bucket, time_point now) {
    if (bucket.configuration) {
        parts_.nodes.hurry(bucket, now);
    }
    const auto connecting = [](const auto& link) { return is_still_connecting(*link); };
    const bool is_early = bucket.links.empty() || std::ranges::any_of(bucket.links, connecting);
    if (!terminal_reason(bucket) && is_early) {
        return waiting_.park_without_retry(slot, bucket.topology_waiters, now);
    }
    const bool is_lost =
        bucket.configuration && std::ranges::any_of(bucket.links, [](const auto& link) {
            return link->was_open && !link->has_failed;
        });
    // Lets the history name one of the nodes that were tried.
    const auto failed = std::ranges::find_if(
        bucket.links, [](const auto& link) { return link->has_failed && !link->is_retired; });
    if (failed != bucket.links.end()) {
        slot.endpoint = static_cast<std::int32_t>((*failed)->endpoint->number);
    }
    dispatch_failed(
        slot, is_lost ? retry_reason::socket_not_available : retry_reason::node_not_available, now);
}

void key_value_operations::breaker_refused(operation_slot& slot, time_point now) {
    retry_case failed;
    failed.reason = retry_reason::circuit_breaker_open;
    retry(slot, failed, now);
}

// Nothing was sent. A terminal state explains why better than the socket does.
void key_value_operations::dispatch_failed(
    operation_slot& slot, retry_reason reason, time_point now) {
    const retry_reason raised = terminal_reason(routes_.bucket_of(slot)).value_or(reason);
    retry_case failed;
    failed.reason = raised;
    failed.stage = attempt_stage::dispatch;
    failed.own_error = own_error_of(raised);
    retry(slot, failed, now);
}

}  // namespace reprise::engine
