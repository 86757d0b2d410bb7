// Takes an operation from its start to the ready list of a connection.

#include <algorithm>
#include <memory>
#include <utility>

#include <reprise/wire/vbucket.hpp>

#include "operations/operations.hpp"
#include "operations/request_encoding.hpp"
#include "topology/terminal_state.hpp"

namespace reprise::engine {
namespace {

bool is_open(const kv_connection* connection) noexcept {
    return connection != nullptr && connection->is_open();
}

// The first attempt to connect is still pending: a reason to wait, not a failure.
bool is_still_connecting(const node_link& link) noexcept {
    return !link.has_failed && !link.was_open;
}

}  // namespace

operation_id operations::start(operation_request&& request, completion&& done, time_point now) {
    REPRISE_ASSERT(parts_.nodes.contains(request.keyspace));
    operation_slot& slot = slots_.acquire();
    const operation_id id = slot.id();
    // The pool has emptied it, so building it anew is cheaper than assigning field by field.
    std::destroy_at(&slot.request);
    std::construct_at(&slot.request, std::move(request));
    slot.is_idempotent = is_idempotent(slot.request.kind);
    if (slot.request.kind == operation_kind::range_scan && slot.request.scan) {
        slot.scan = std::make_unique<scan_progress>(*slot.request.scan);
    }
    const duration usual =
        slot.request.durability ? context_.options.kv_durable_timeout : context_.options.kv_timeout;
    parts_.life.start(
        slot, std::move(done), {slot.request.timeout, usual, slot.request.deadline}, now);
    if (parts_.decider.watch().is_on()) [[unlikely]] {
        parts_.decider.watch().on_start(
            names_of(slot), parts_.nodes[slot.request.keyspace].bucket->name,
            slot.request.user_data.get());
    }
    const duration delay = parts_.decider.begin(slot, now);
    if (context_.is_closed) [[unlikely]] {
        refuse(slot, {errc::request_canceled, "the client is closed"}, now);
        return id;
    }
    const keyspace_entry& space = parts_.nodes[slot.request.keyspace];
    if (auto valid = check_request(slot.request, !space.entry->is_default); !valid) [[unlikely]] {
        refuse(slot, std::move(valid.error()), now);
    } else if (slot.deadline <= now) {
        time_out(slot, now);
    } else if (delay > duration::zero()) {
        wait_for_first_attempt(slot, delay, now);
    } else {
        dispatch(slot, false, now);
    }
    return id;
}

// Ends an operation that cannot be sent.
void operations::refuse(operation_slot& slot, encoding_error&& error, time_point now) {
    complete_error(slot, error.code, {.detail = std::move(error.detail)}, now);
}

// The strategy's initial token has a delay.
void operations::wait_for_first_attempt(operation_slot& slot, duration delay, time_point now) {
    if (!parts_.life.has_place()) {
        return apply(slot, parts_.life.refuse_place(slot, now), now);
    }
    parts_.life.park(slot, backoff_waiters_, std::min(add_saturated(now, delay), slot.deadline));
}

// Dispatches the operation, wherever it waited before. `is_woken`: the cause of its waiting has
// ended, so a full ready list must not reject it.
void operations::dispatch(operation_slot& slot, bool is_woken, time_point now) {
    slot.endpoint = -1;
    const keyspace_entry& space = parts_.nodes[slot.request.keyspace];
    bucket_state& bucket = *space.bucket;
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
    if (space.entry->state != collection_state::known) {
        return await_collection(slot, *space.entry, now);
    }
    slot.vbucket = vbucket_of(slot, bucket.configuration->vbucket_count());
    if (slot.request.scan && !may_scan(slot, bucket, now)) [[unlikely]] {
        return;
    }
    const auto node =
        choose_node(*bucket.configuration, slot.vbucket.value, slot.request.replica, slot.route);
    if (!node) {
        return dispatch_failed(slot, retry_reason::node_not_available, now);
    }
    node_link* link = bucket.routes[route_place(slot)];
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

// Returns false if the bucket cannot be scanned like this: then the operation has ended.
bool operations::may_scan(operation_slot& slot, const bucket_state& bucket, time_point now) {
    if (slot.vbucket.value >= bucket.configuration->vbucket_count()) {
        complete_error(
            slot, errc::invalid_argument, {.detail = "the bucket has no such vbucket"}, now);
        return false;
    }
    if (!can_scan(bucket)) {
        complete_error(
            slot, errc::feature_not_available, {.detail = "the bucket has no range scans"}, now);
        return false;
    }
    return true;
}

// A NOOP to a bucket proves that operations could be sent, so only a node that owns vbuckets may
// answer it.
void operations::dispatch_noop(operation_slot& slot, bucket_state& bucket, time_point now) {
    const bool is_of_bucket = !bucket.name.empty();
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

void operations::fail_without_vbuckets(operation_slot& slot, time_point now) {
    complete_error(
        slot, errc::feature_not_available,
        {.detail = "the bucket has no vbuckets; such buckets are not supported"}, now);
}

void operations::await_collection(operation_slot& slot, collection_entry& entry, time_point now) {
    bucket_state& bucket = *entry.bucket;
    const bool is_stuck = terminal_reason(bucket) && !is_dispatchable(slot);
    if (entry.state != collection_state::unknown && !is_stuck) {
        return park_silently(slot, entry.waiters, now);
    }
    kv_connection* connection = parts_.nodes.any_open(bucket, bucket.noop_next);
    if (connection == nullptr) {
        return wait_for_topology(slot, bucket, now);
    }
    if (!connection->features.contains(wire::hello_feature::collections)) {
        return complete_error(
            slot, errc::feature_not_available, {.detail = "the server has no collections"}, now);
    }
    // Asks for the id even if the operation finds no place to wait, because the next one will need
    // it.
    parts_.collection_ids.ask(entry, *connection, now);
    park_silently(slot, entry.waiters, now);
}

void operations::submit(operation_slot& slot, node_link& link, bool is_woken, time_point now) {
    slot.endpoint = static_cast<std::int32_t>(link.endpoint->number);
    kv_connection* connection = link.connection;
    if (is_open(connection)) {
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
        return park_silently(slot, link.waiters, now);
    }
    dispatch_failed(
        slot,
        link.has_failed ? retry_reason::node_not_available : retry_reason::socket_not_available,
        now);
}

void operations::make_ready(operation_slot& slot, kv_connection& connection, time_point now) {
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
void operations::wait_for_topology(operation_slot& slot, bucket_state& bucket, time_point now) {
    if (bucket.configuration) {
        parts_.nodes.hurry(bucket, now);
    }
    const auto connecting = [](const auto& link) { return is_still_connecting(*link); };
    const bool is_early = bucket.links.empty() || std::ranges::any_of(bucket.links, connecting);
    if (!terminal_reason(bucket) && is_early) {
        return park_silently(slot, bucket.topology_waiters, now);
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

void operations::breaker_refused(operation_slot& slot, time_point now) {
    retry_case failed;
    failed.reason = retry_reason::circuit_breaker_open;
    retry(slot, failed, now);
}

// Nothing was sent. A terminal state explains why better than the socket does.
void operations::dispatch_failed(operation_slot& slot, retry_reason reason, time_point now) {
    const retry_reason raised = terminal_reason(bucket_of(slot)).value_or(reason);
    retry_case failed;
    failed.reason = raised;
    failed.stage = attempt_stage::dispatch;
    failed.own_error = own_error_of(raised);
    retry(slot, failed, now);
}

// Whether `dispatch` could send the operation now.
bool operations::is_dispatchable(const operation_slot& slot) const noexcept {
    const keyspace_entry& space = parts_.nodes[slot.request.keyspace];
    const bucket_state& bucket = *space.bucket;
    const std::size_t vbuckets = bucket.configuration ? bucket.configuration->vbucket_count() : 0;
    if (bucket.configuration && vbuckets == 0 && !bucket.name.empty()) {
        return false;
    }
    const bool needs_any = slot.request.kind == operation_kind::noop || !bucket.configuration ||
                           space.entry->state != collection_state::known;
    if (needs_any) {
        return std::ranges::any_of(bucket.links, [](const auto& link) {
            return !link->is_retired && is_open(link->connection);
        });
    }
    route_state route = slot.route;
    const auto vbucket = vbucket_of(slot, vbuckets);
    const auto node =
        choose_node(*bucket.configuration, vbucket.value, slot.request.replica, route);
    if (!node) {
        return false;
    }
    const std::size_t ordinal = slot.index % context_.options.kv_connections_per_node;
    const node_link* link =
        bucket.routes[*node * context_.options.kv_connections_per_node + ordinal];
    return link != nullptr && is_open(link->connection);
}

// A scan names its vbucket; all others have a key.
wire::vbucket_id operations::vbucket_of(
    const operation_slot& slot, std::size_t vbucket_count) noexcept {
    return slot.request.scan ? slot.request.scan->vbucket
                             : wire::vbucket_of(slot.request.key.text(), vbucket_count);
}

// The index of the operation's link in the routes of the bucket.
std::size_t operations::route_place(const operation_slot& slot) const noexcept {
    const std::size_t per_node = context_.options.kv_connections_per_node;
    return *slot.route.node * per_node + slot.index % per_node;
}

// The link of the last attempt. Null if its route is no longer valid.
node_link* operations::link_of_route(const operation_slot& slot) const {
    const bucket_state& bucket = bucket_of(slot);
    const bool is_routed = slot.endpoint >= 0 && slot.route.node && bucket.configuration &&
                           slot.route.revision == bucket.configuration->revision();
    node_link* link = is_routed ? bucket.routes[route_place(slot)] : nullptr;
    return link != nullptr && !link->is_retired ? link : nullptr;
}

bucket_state& operations::bucket_of(const operation_slot& slot) const {
    return *parts_.nodes[slot.request.keyspace].bucket;
}

}  // namespace reprise::engine
