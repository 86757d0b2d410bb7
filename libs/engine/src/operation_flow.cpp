// From start to a connection's ready list; parking, waking and retries.

#include <algorithm>
#include <limits>
#include <utility>

#include <reprise/wire/vbucket.hpp>

#include "engine_core.hpp"

namespace reprise::engine {
namespace {

std::uint32_t saturated_us(duration time) noexcept {
    const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(time).count();
    constexpr std::int64_t most = std::numeric_limits<std::uint32_t>::max();
    return static_cast<std::uint32_t>(std::clamp<std::int64_t>(micros, 0, most));
}

bool is_open(const kv_connection* connection) noexcept {
    return connection != nullptr && connection->state == connection_state::open;
}

// First attempt to connect, not decided yet: worth waiting for, not a failure.
bool is_still_connecting(const node_link& link) noexcept {
    return !link.has_failed && !link.was_open;
}

}  // namespace

// Where the link of the operation's node stands among the bucket's routes.
std::size_t engine_core::route_place(const operation_slot& slot) const noexcept {
    const std::size_t per_node = options_.kv_connections_per_node;
    return *slot.route.node * per_node + slot.index % per_node;
}

bucket_state& engine_core::bucket_of(const operation_slot& slot) const {
    return *keyspaces_[slot.request.keyspace.value].bucket;
}

// Sends the operation on its way, from wherever it waited. `is_woken`: its cause has ended; it must
// not be turned away by a full ready list.
void engine_core::dispatch(operation_slot& slot, bool is_woken, time_point now) {
    slot.state = operation_state::running;
    slot.endpoint = -1;
    const keyspace_entry& space = keyspaces_[slot.request.keyspace.value];
    bucket_state& bucket = *space.bucket;
    open_bucket(bucket, now);
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
    if (space.entry != nullptr && space.entry->state != collection_state::known) {
        return await_collection(slot, *space.entry, now);
    }
    slot.vbucket = wire::vbucket_of(slot.request.key.text(), bucket.configuration->vbucket_count());
    const std::size_t replica =
        slot.request.kind == operation_kind::get_replica ? slot.request.replica : 0;
    const auto node = choose_node(*bucket.configuration, slot.vbucket.value, replica, slot.route);
    if (!node) {
        return dispatch_failed(slot, retry_reason::node_not_available, now);
    }
    node_link* link = bucket.routes[route_place(slot)];
    if (link == nullptr) {
        const bool is_nowhere = std::ranges::all_of(
            bucket.routes, [](const node_link* route) { return route == nullptr; });
        return dispatch_failed(
            slot,
            is_nowhere ? retry_reason::service_not_available : retry_reason::node_not_available,
            now);
    }
    submit(slot, *link, is_woken, now);
}

void engine_core::fail_without_vbuckets(operation_slot& slot, time_point now) {
    complete_error(
        slot, errc::feature_not_available,
        {.detail = "the bucket has no vbuckets; such buckets are not supported"}, now);
}

// Of a bucket it says that operations could be sent: only a node that owns something can say that.
void engine_core::dispatch_noop(operation_slot& slot, bucket_state& bucket, time_point now) {
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
        kv_connection* connection = any_open(bucket, bucket.noop_next);
        if (connection == nullptr) {
            break;
        }
        if (is_of_bucket && !connection->link->is_owner) {
            continue;
        }
        slot.endpoint = static_cast<std::int32_t>(connection->link->endpoint->number);
        const auto& breaker = connection->link->endpoint->breaker;
        if (!breaker || breaker->allows()) {
            return make_ready(slot, *connection);
        }
    }
    if (slot.endpoint >= 0) {
        return breaker_refused(slot, now);
    }
    wait_for_topology(slot, bucket, now);
}

void engine_core::breaker_refused(operation_slot& slot, time_point now) {
    retry_case failed;
    failed.reason = retry_reason::circuit_breaker_open;
    failed.own_error = own_error_of(failed.reason);
    retry(slot, failed, now);
}

void engine_core::submit(operation_slot& slot, node_link& link, bool is_woken, time_point now) {
    slot.endpoint = static_cast<std::int32_t>(link.endpoint->number);
    kv_connection* connection = link.connection;
    if (is_open(connection)) {
        if (link.endpoint->breaker && !link.endpoint->breaker->allows()) {
            return breaker_refused(slot, now);
        }
        if (!is_woken && connection->ready.size() >= options_.ready_count_max) {
            return dispatch_failed(slot, retry_reason::socket_not_available, now);
        }
        return make_ready(slot, *connection);
    }
    topology_.hurry(link, now);
    if (is_still_connecting(link) && !terminal_reason(*link.bucket)) {
        return park_silently(slot, link.waiters, now);
    }
    dispatch_failed(
        slot,
        link.has_failed ? retry_reason::node_not_available : retry_reason::socket_not_available,
        now);
}

// There is no configuration, or no connection at all, to go on with.
void engine_core::wait_for_topology(operation_slot& slot, bucket_state& bucket, time_point now) {
    if (bucket.configuration) {
        topology_.hurry(bucket, now);
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
    // The history names one of those that were tried.
    const auto failed = std::ranges::find_if(
        bucket.links, [](const auto& link) { return link->has_failed && !link->is_retired; });
    if (failed != bucket.links.end()) {
        slot.endpoint = static_cast<std::int32_t>((*failed)->endpoint->number);
    }
    dispatch_failed(
        slot, is_lost ? retry_reason::socket_not_available : retry_reason::node_not_available, now);
}

// Whether `dispatch` would find a way now.
bool engine_core::is_dispatchable(const operation_slot& slot) const noexcept {
    const keyspace_entry& space = keyspaces_[slot.request.keyspace.value];
    const bucket_state& bucket = *space.bucket;
    const std::size_t vbuckets = bucket.configuration ? bucket.configuration->vbucket_count() : 0;
    if (bucket.configuration && vbuckets == 0 && !bucket.name.empty()) {
        return false;
    }
    const bool needs_any =
        slot.request.kind == operation_kind::noop || !bucket.configuration ||
        (space.entry != nullptr && space.entry->state != collection_state::known);
    if (needs_any) {
        return std::ranges::any_of(bucket.links, [](const auto& link) {
            return !link->is_retired && is_open(link->connection);
        });
    }
    route_state route = slot.route;
    const std::size_t replica =
        slot.request.kind == operation_kind::get_replica ? slot.request.replica : 0;
    const auto vbucket = wire::vbucket_of(slot.request.key.text(), vbuckets);
    const auto node = choose_node(*bucket.configuration, vbucket.value, replica, route);
    if (!node) {
        return false;
    }
    const std::size_t ordinal = slot.index % options_.kv_connections_per_node;
    const node_link* link = bucket.routes[*node * options_.kv_connections_per_node + ordinal];
    return link != nullptr && is_open(link->connection);
}

// Nothing was sent. A terminal state explains better than the socket why.
void engine_core::dispatch_failed(operation_slot& slot, retry_reason reason, time_point now) {
    const retry_reason told = terminal_reason(bucket_of(slot)).value_or(reason);
    retry_case failed;
    failed.reason = told;
    failed.stage = attempt_stage::dispatch;
    failed.own_error = own_error_of(told);
    retry(slot, failed, now);
}

void engine_core::make_ready(operation_slot& slot, kv_connection& connection) {
    slot.state = operation_state::ready;
    slot.connection = &connection;
    connection.ready.push_back(slot);
    if (slot.deadline != no_deadline) {
        wheel_.arm(slot, slot.deadline);
    }
    request_write(connection);
}

retry_subject engine_core::subject_of(operation_slot& slot) {
    return make_subject(
        slot,
        {to_string(slot.request.kind), slot.is_idempotent, wire::service::key_value, slot.id()});
}

// An attempt failed: ask what to do about it, and do it.
void engine_core::retry(operation_slot& slot, const retry_case& failed, time_point now) {
    REPRISE_ASSERT(slot.state == operation_state::running);
    slot.failed = failed;
    slot.last_reason = failed.reason;
    ++slot.decision;
    const auto decided =
        decider_.decide(failed, subject_of(slot), parked_count_, {now, random_.next()});
    if (decided) {
        return apply(slot, *decided, now);
    }
    slot.state = operation_state::deciding;
    ++parked_count_;
    if (slot.deadline != no_deadline) {
        wheel_.arm(slot, slot.deadline);
    }
}

void engine_core::apply(operation_slot& slot, const retry_outcome& decided, time_point now) {
    record(
        slot.history,
        {to_string(slot.request.kind), slot.failed, decided, retries_before(slot.progress, decided),
         slot.started, slot.endpoint, slot.request.key.text(), slot.id()},
        now);
    if (!decided.is_retry) {
        failure_note note;
        note.is_ambiguous = decided.is_ambiguous;
        note.detail = decided.cause;
        if (note.detail.empty() && slot.failed.stage == attempt_stage::dispatch) {
            note.detail = dispatch_cause(slot);
        }
        // Kept for this call: the entry lives in it.
        const auto map = slot.endpoint < 0
                             ? nullptr
                             : endpoints_[static_cast<std::size_t>(slot.endpoint)]->error_map;
        if (slot.failed.status != 0) {
            note.status = slot.failed.status;
            const bool is_known =
                wire::is_known_to_client(static_cast<wire::status>(slot.failed.status));
            note.entry = map && !is_known ? map->find(slot.failed.status) : nullptr;
        }
        return complete_error(slot, decided.error, std::move(note), now);
    }
    ++counters_.retries;
    slot.reasons.insert(slot.failed.reason);
    // After an answer "now" is now. Before one, a loop without any answer between must go through
    // the timer, or a strategy that always says zero would never let go.
    if (decided.delay == duration::zero() && !decided.is_capped &&
        slot.failed.stage != attempt_stage::dispatch) {
        return dispatch(slot, true, now);
    }
    park(slot, list_for(slot), add_saturated(now, decided.delay));
}

void engine_core::record(operation_history& history, const decided_attempt& what, time_point now) {
    history_entry entry;
    entry.offset_us = saturated_us(now - what.started);
    entry.delay_us = what.decided.is_retry ? saturated_us(what.decided.delay) : 0;
    entry.status = what.failed.status;
    entry.attempt = static_cast<std::uint16_t>(std::min<std::uint32_t>(what.attempts, 0xffff));
    entry.reason = what.failed.reason;
    entry.stage = what.failed.stage;
    entry.refusal = what.decided.refusal;
    history.push(entry, what.endpoint);
    tell(what, now);
}

void engine_core::tell(const decided_attempt& what, time_point now) {
    if (!decisions_.is_on()) {
        return;
    }
    decision_record line;
    line.operation = what.operation;
    line.reason = what.failed.reason;
    line.stage = what.failed.stage;
    line.attempt = what.attempts;
    line.is_retried = what.decided.is_retry;
    line.delay = what.decided.delay;
    if (what.decided.error.category() == client_category()) {
        line.error = static_cast<errc>(what.decided.error.value());
    }
    line.refusal = what.decided.refusal;
    line.status = what.failed.status;
    if (what.endpoint >= 0) {
        line.endpoint = endpoints_[static_cast<std::size_t>(what.endpoint)]->name;
    }
    if (options_.log_keys) {
        line.key = what.key;
    }
    line.id = what.id.value;
    decisions_.on_decision(line, now);
    if (const auto due = decisions_.next_due(); due && !log_timer_.is_armed() && !is_closed_) {
        wheel_.arm(log_timer_, *due);
    }
}

// A failure of no known kind. It is refused like any other; the note stays.
void engine_core::fail_unclassified(
    operation_slot& slot, std::error_code code, failure_note&& note, time_point now) {
    retry_case failed;
    failed.reason = retry_reason::unknown;
    failed.stage = attempt_stage::response;
    failed.own_error = static_cast<errc>(code.value());
    failed.status = note.status.value_or(0);
    slot.failed = failed;
    slot.last_reason = failed.reason;
    const auto decided =
        decider_.decide(failed, subject_of(slot), parked_count_, {now, random_.next()});
    REPRISE_ASSERT(decided.has_value());
    record(
        slot.history,
        {to_string(slot.request.kind), slot.failed, *decided,
         retries_before(slot.progress, *decided), slot.started, slot.endpoint,
         slot.request.key.text(), slot.id()},
        now);
    complete_error(slot, decided->error, std::move(note), now);
}

// Where an operation waits decides what wakes it before its time.
wait_list& engine_core::list_for(operation_slot& slot) {
    bucket_state& bucket = bucket_of(slot);
    if (slot.failed.reason == retry_reason::kv_not_my_vbucket) {
        return bucket.not_my_vbucket_waiters;
    }
    if (!is_about_connection(slot.failed.reason)) {
        return backoff_waiters_;
    }
    // Whatever else happens to the bucket wakes those without a route.
    node_link* link = link_of_route(slot);
    return link != nullptr ? link->waiters : bucket.topology_waiters;
}

// By the route of the last attempt, if it still stands; null: it does not.
node_link* engine_core::link_of_route(const operation_slot& slot) const {
    const bucket_state& bucket = bucket_of(slot);
    const bool is_routed = slot.endpoint >= 0 && slot.route.node && bucket.configuration &&
                           slot.route.revision == bucket.configuration->revision();
    node_link* link = is_routed ? bucket.routes[route_place(slot)] : nullptr;
    return link != nullptr && !link->is_retired ? link : nullptr;
}

void engine_core::park(operation_slot& slot, wait_list& list, time_point due) {
    slot.state = operation_state::parked;
    slot.is_silent = false;
    list.push_back(slot);
    ++parked_count_;
    wheel_.arm(slot, due);
}

void engine_core::park_silently(operation_slot& slot, wait_list& list, time_point now) {
    if (parked_count_ >= options_.parked_count_max) {
        slot.failed = {};
        slot.failed.reason = retry_reason::socket_not_available;
        slot.last_reason = slot.failed.reason;
        return apply(slot, refused(errc::retry_queue_full, refusal_reason::queue_full), now);
    }
    slot.state = operation_state::parked;
    slot.is_silent = true;
    list.push_back(slot);
    ++parked_count_;
    if (slot.deadline != no_deadline) {
        wheel_.arm(slot, slot.deadline);
    }
}

// Takes the operation out of its list, its timer and its connection.
void engine_core::leave_place(operation_slot& slot) {
    wheel_.disarm(slot);
    if (slot.list() != nullptr) {
        slot.list()->erase(slot);
    }
    if (slot.state == operation_state::parked || slot.state == operation_state::deciding) {
        --parked_count_;
    }
    if (slot.state == operation_state::on_wire && slot.connection != nullptr) {
        if (opaque_entry* entry = slot.connection->waiting.find(slot.sent.opaque)) {
            slot.connection->waiting.abandon(*entry);
        }
    }
    slot.connection = nullptr;
    slot.state = operation_state::running;
}

// The cause has ended: everybody who was waiting for it goes on, in the order they came. Those
// behind the first `count_max` have come since, and know it already.
void engine_core::wake(wait_list& list, std::size_t count_max, time_point now) {
    for (std::size_t left = std::min(list.size(), count_max); left > 0 && !list.empty(); --left) {
        operation_slot& slot = *list.front();
        leave_place(slot);
        dispatch(slot, true, now);
    }
}

// Whether a new revision may cut the operation's wait short, and counts that. Where revisions come
// at a human pace it always may.
bool engine_core::may_hurry(operation_slot& slot, const bucket_state& bucket) noexcept {
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
void engine_core::wake_for_revision(bucket_state& bucket, time_point now) {
    wait_list& list = bucket.not_my_vbucket_waiters;
    for (std::size_t left = list.size(); left > 0 && !list.empty(); --left) {
        operation_slot& slot = *list.front();
        if (may_hurry(slot, bucket)) {
            leave_place(slot);
            dispatch(slot, true, now);
        } else {
            list.erase(slot);
            list.push_back(slot);
            wheel_.arm(slot, std::min(slot.due(), add_saturated(now, hurry_distance)));
        }
    }
}

// What was waited for did not come: those who only waited learn it; those in a backoff are told
// when it ends.
void engine_core::wake_silent(wait_list& list, time_point now) {
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

void engine_core::on_operation_due(operation_slot& slot, time_point now) {
    if (now >= slot.deadline) {
        return time_out(slot, now);
    }
    leave_place(slot);
    dispatch(slot, false, now);
}

}  // namespace reprise::engine
