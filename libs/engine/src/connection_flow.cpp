// The life of a connection: bootstrap, bytes in, bytes out, probes, the end.

#include <algorithm>
#include <array>
#include <utility>

#include <reprise/wire/session_messages.hpp>

#include "connection_problem.hpp"
#include "engine_core.hpp"
#include "request_encoding.hpp"

namespace reprise::engine {
namespace {

using feature = wire::hello_feature;

wire::hello_feature_set wanted_features(const engine_options& options, bool skip_error_map) {
    wire::hello_feature_set wanted{
        feature::tcp_no_delay,
        feature::xattr,
        feature::select_bucket,
        feature::json,
        feature::duplex,
        feature::clustermap_change_notification,
        feature::alt_request_support,
        feature::sync_replication,
        feature::collections,
        feature::preserve_ttl,
        feature::subdoc_create_as_deleted,
        feature::subdoc_replica_read,
        feature::get_cluster_config_with_known_version,
        feature::dedupe_not_my_vbucket_clustermap,
        feature::clustermap_change_notification_brief,
        feature::subdoc_binary_xattr};
    const std::array<std::pair<bool, feature>, 6> by_option{{
        {options.enable_error_map && !skip_error_map, feature::xerror},
        {options.enable_mutation_tokens, feature::mutation_seqno},
        {options.enable_unordered_execution, feature::unordered_execution},
        {options.enable_server_duration, feature::tracing},
        {options.enable_compression, feature::snappy},
        {options.enable_compression, feature::snappy_everywhere},
    }};
    for (const auto& [is_wanted, code] : by_option) {
        if (is_wanted) {
            wanted.insert(code);
        }
    }
    return wanted;
}

}  // namespace

kv_connection* engine_core::find(connection_id id) noexcept {
    const auto found = connections_.find(id);
    return found == connections_.end() ? nullptr : found->second.get();
}

bootstrap_options engine_core::bootstrap_options_for(const node_link& link, connection_id id) {
    bootstrap_options options;
    options.agent_key = wire::make_agent_key({options_.agent, client_number_, id.value});
    options.features = wanted_features(options_, link.skip_error_map);
    options.hello = options_.hello;
    options.identity = identity_;
    options.bucket = link.bucket->name;
    options.nonce = fresh_nonce();
    options.is_over_tls = options_.transport == wire::transport::tls;
    options.is_tls_verified = options_.is_tls_verified;
    options.allow_plain_without_tls = options_.allow_plain_without_tls;
    options.scram.iterations_max = options_.scram_iterations_max;
    return options;
}

void engine_core::on_connected(connection_id id, std::string_view peer, time_point now) {
    kv_connection* connection = find(id);
    if (connection == nullptr) {
        http_.on_connected(id, peer, now);
        return;
    }
    if (connection->state != connection_state::connecting) {
        return;
    }
    connection->state = connection_state::bootstrapping;
    connection->received_last = now;
    connection->has_error_map_share = true;
    ++connection->link->endpoint->error_map_shares;
    connection->identity_number = identity_number_;
    connection->bootstrap =
        std::make_unique<bootstrap_fsm>(bootstrap_options_for(*connection->link, id));
    connection->link->skip_error_map = false;  // the next fresh connection asks again
    connection->bootstrap->start(connection->control);
    wheel_.arm(*connection, add_saturated(now, options_.bootstrap_timeout));
    on_bootstrap_step(*connection, now);
}

void engine_core::on_connect_failed(
    connection_id id, connect_failure failure, std::string_view text, time_point now) {
    kv_connection* connection = find(id);
    if (connection == nullptr) {
        http_.on_connect_failed(id, failure, text, now);
        return;
    }
    if (connection->state == connection_state::closed) {
        connections_.erase(id);
        return;
    }
    endpoint_record& endpoint = *connection->link->endpoint;
    connection->link->problem = connect_problem(failure, endpoint.host, text);
    log(log_level::warn, endpoint.name + ": " + connection->link->problem);
    const bool is_terminal = is_tls_failure(failure);
    endpoint.is_tls_failed = endpoint.is_tls_failed || is_terminal;
    if (is_terminal) {
        endpoint.refusal = connection->link->problem;
    }
    refresh_terminal_states();
    finish_connection(*connection, 0, true, now);
    connections_.erase(id);
    if (is_terminal) {
        on_terminal_state(nullptr, now);
    }
}

void engine_core::on_bytes(
    connection_id id, const base::block_ref* owner, base::byte_view bytes, time_point now) {
    kv_connection* connection = find(id);
    if (connection == nullptr) {
        http_.on_bytes(id, owner, bytes, now);
        return;
    }
    if (connection->state == connection_state::closed ||
        connection->state == connection_state::connecting) {
        return;
    }
    connection->received_last = now;
    connection->probe_sent.reset();
    if (connection->link->endpoint->is_tls_failed) {
        connection->link->endpoint->is_tls_failed = false;
        refresh_terminal_states();
    }
    if (!std::exchange(connection->has_received, true) && is_stranger(bytes)) {
        return fail_connection(*connection, stranger_problem(bytes), now);
    }
    connection->reader.feed(bytes);
    while (connection->state != connection_state::closed) {
        const auto next = connection->reader.next();
        if (!next) {
            const std::string name(wire::to_string(next.error()));
            return fail_connection(
                *connection,
                connection->has_answered ? "malformed frame: " + name : stranger_problem(bytes),
                now);
        }
        if (!*next) {
            break;
        }
        connection->has_answered = true;
        on_frame(*connection, **next, {owner, &value_pool_}, now);
    }
    if (connection->state != connection_state::closed) {
        request_write(*connection);
        close_drained(*connection, now);
    }
}

void engine_core::on_frame(
    kv_connection& connection, const wire::frame_view& frame, const frame_source& source,
    time_point now) {
    if (frame.is_server_push()) {
        return on_push(connection, frame, now);
    }
    if (connection.state == connection_state::bootstrapping) {
        connection.bootstrap->on_response(frame, connection.control);
        return on_bootstrap_step(connection, now);
    }
    on_response(connection, frame, source, now);
}

void engine_core::on_bootstrap_step(kv_connection& connection, time_point now) {
    bootstrap_fsm& bootstrap = *connection.bootstrap;
    if (bootstrap.is_authenticated()) {
        on_authenticated(connection, now);
    }
    if (bootstrap.is_bucket_selected()) {
        clear_bucket_state(*connection.link->bucket);
    }
    if (bootstrap.has_failed()) {
        return on_bootstrap_failed(connection, now);
    }
    if (bootstrap.is_done()) {
        return on_open(connection, now);
    }
    if (bootstrap.wanted_key() != nullptr) {
        return want_key(connection, now);
    }
    request_write(connection);
}

void engine_core::on_bootstrap_failed(kv_connection& connection, time_point now) {
    node_link& link = *connection.link;
    const bootstrap_failure failure = connection.bootstrap->failure();
    const std::string why =
        std::string(to_string(failure)) + ": " + shown(connection.bootstrap->text());
    bool is_terminal = false;
    bucket_state* affected = nullptr;
    // What replaced credentials were refused says nothing about the new ones.
    link.has_old_identity = connection.identity_number != identity_number_;
    endpoint_record& endpoint = *link.endpoint;
    if (is_login_refusal(failure) && !link.has_old_identity) {
        endpoint.is_auth_refused = true;
        endpoint.refusal = why;
        is_terminal = true;
    }
    switch (link.has_old_identity ? bootstrap_failure::none : failure) {
        case bootstrap_failure::error_map_corrupt:
            link.skip_error_map = true;  // once: on_connected forgets it
            break;
        case bootstrap_failure::bucket_no_access:
            link.bucket->is_access_denied = true;
            link.bucket->access_problem = endpoint.name + ": " + why;
            affected = link.bucket;
            is_terminal = true;
            break;
        case bootstrap_failure::bucket_not_found:
            link.bucket->access_problem = endpoint.name + ": " + why;
            on_bucket_missing(link, now);
            affected = link.bucket;
            is_terminal = terminal_reason(*link.bucket).has_value();
            break;
        default:
            break;
    }
    refresh_terminal_states();
    fail_connection(connection, why, now);
    if (is_server_unproved(failure)) {
        pace_logins(endpoint, now);
    }
    if (is_terminal) {
        on_terminal_state(affected, now);
    }
}

void engine_core::on_open(kv_connection& connection, time_point now) {
    node_link& link = *connection.link;
    bucket_state& bucket = *link.bucket;
    connection.state = connection_state::open;
    connection.features = connection.bootstrap->granted();
    connection.bootstrap_opaque_last = connection.bootstrap->last_opaque();
    const std::string text = connection.bootstrap->configuration();
    if (const std::string& problem = connection.bootstrap->configuration_problem();
        !problem.empty()) {
        bucket.configuration_problem = link.endpoint->name + ": " + problem;
        log(log_level::warn, bucket.configuration_problem);
    }
    if (!connection.bootstrap->text().empty()) {
        log(log_level::warn, link.endpoint->name + ": " + connection.bootstrap->text());
    }
    connection.bootstrap.reset();
    wheel_.disarm(connection);
    end_opening(connection.is_opening, now);
    link.has_failed = false;
    link.problem.clear();
    link.was_open = true;
    link.opened = now;
    log(log_level::info, "connected to " + link.endpoint->name);
    bucket.is_poll_wanted = false;  // the bootstrap has just asked
    const bool is_news =
        !text.empty() && apply_configuration(bucket, text, link.endpoint->host, now) ==
                             configuration_effect::applied;
    if (!bucket.is_armed()) {
        wheel_.arm(bucket, add_saturated(now, options_.config_poll_interval));
    }
    poll_soon(bucket, now);
    if (connection.state != connection_state::open) {
        return;  // the configuration does not have this node any more
    }
    // A new configuration has woken those who wait for the topology already.
    const std::size_t waiting_count = is_news ? 0 : bucket.topology_waiters.size();
    close_breaker(*link.endpoint, now);  // the bootstrap was answered
    wake(link.waiters, now);
    wake(bucket.topology_waiters, now, waiting_count);
    if (bucket.has_seed_links) {
        sync_links(bucket, now);
    }
}

// Ends a connection by our own decision. Everything handed to a write counts as sent.
void engine_core::fail_connection(kv_connection& connection, std::string_view why, time_point now) {
    if (connection.state == connection_state::closed) {
        return;
    }
    connection.link->problem = why;
    log(log_level::warn, "closing " + connection.link->endpoint->name + ": " + std::string(why));
    actions_.emplace_back(close_action{connection.id});
    const bool has_failed = connection.state != connection_state::open;
    finish_connection(connection, connection.sent_end(0), has_failed, now);
}

void engine_core::on_closed(
    connection_id id, close_reason reason, std::size_t unwritten_size, time_point now) {
    kv_connection* connection = find(id);
    if (connection == nullptr) {
        http_.on_closed(id, reason, unwritten_size, now);
        return;
    }
    if (connection->state != connection_state::closed) {
        endpoint_record& endpoint = *connection->link->endpoint;
        const bool is_terminal = reason == close_reason::tls_alert;
        endpoint.is_tls_failed = endpoint.is_tls_failed || is_terminal;
        refresh_terminal_states();
        const bool has_failed = connection->state != connection_state::open;
        std::string& problem = connection->link->problem;
        problem = to_string(reason);
        if (has_failed && !is_terminal) {
            const bool is_over_tls = options_.transport == wire::transport::tls;
            problem = closed_problem(reason, connection->has_answered, is_over_tls);
        }
        log(has_failed ? log_level::warn : log_level::info, endpoint.name + ": " + problem);
        if (is_terminal) {
            endpoint.refusal = problem;
        }
        finish_connection(*connection, connection->sent_end(unwritten_size), has_failed, now);
        if (is_terminal) {
            on_terminal_state(nullptr, now);
        }
    }
    connections_.erase(id);
}

// The connection is over for us: its link looks for another one, its operations for another way.
void engine_core::finish_connection(
    kv_connection& connection, std::uint64_t sent_end, bool has_failed, time_point now) {
    node_link& link = *connection.link;
    bucket_state& bucket = *link.bucket;
    connection.state = connection_state::closed;
    wheel_.disarm(connection);
    if (connection.bootstrap) {
        keys_.forget(connection.id);
    }
    drop_error_map(connection);
    std::vector<operation_slot*> slots;
    std::vector<collection_entry*> questions;
    for (opaque_entry& entry : connection.waiting.entries()) {
        if (entry.kind == waiter_kind::operation) {
            slots.push_back(&operations_.at(entry.target));
        } else if (entry.kind == waiter_kind::collection) {
            questions.push_back(bucket.collections[entry.target].get());
        } else if (entry.kind == waiter_kind::canary) {
            on_canary_lost(*link.endpoint, now);
        } else if (entry.kind == waiter_kind::configuration) {
            retry_case failed;
            failed.reason = retry_reason::socket_closed_while_in_flight;
            failed.stage = attempt_stage::network;
            on_poll_failed(bucket, *link.endpoint, failed, now);
        }
        if (entry.kind != waiter_kind::nobody) {
            connection.waiting.erase(entry);
        }
    }
    // In the order in which they were sent, then those that never were.
    std::ranges::sort(slots, {}, &operation_slot::wire_offset);
    while (operation_slot* slot = connection.ready.front()) {
        connection.ready.erase(*slot);
        slot->state = operation_state::ready;
        slots.push_back(slot);
    }
    link.connection = nullptr;
    connection.link = nullptr;
    reconnect_later(link, has_failed, now);
    end_opening(connection.is_opening, now);
    requeue(slots, sent_end, now);
    for (collection_entry* entry : questions) {
        forget_question(*entry, now);
    }
    if (has_failed) {
        on_link_failed(link, now);
    }
}

void engine_core::requeue(
    std::span<operation_slot* const> slots, std::uint64_t sent_end, time_point now) {
    for (operation_slot* slot : slots) {
        const bool was_handed = slot->state == operation_state::on_wire;
        const bool was_sent = was_handed && slot->wire_offset < sent_end;
        slot->connection = nullptr;
        wheel_.disarm(*slot);
        slot->state = operation_state::running;
        if (was_sent) {
            retry_case failed;
            failed.reason = retry_reason::socket_closed_while_in_flight;
            failed.stage = attempt_stage::network;
            if (slot->endpoint >= 0) {
                note_outcome(
                    *endpoints_[static_cast<std::size_t>(slot->endpoint)], errc::request_canceled,
                    now);
            }
            retry(*slot, failed, now);
        } else if (was_handed) {
            slot->sent = slot->sent_before;
            dispatch_failed(*slot, retry_reason::socket_not_available, now);
        } else {
            dispatch(*slot, true, now);
        }
    }
}

void engine_core::request_write(kv_connection& connection) {
    if (connection.state == connection_state::closed || connection.is_write_requested ||
        !connection.outstanding().empty()) {
        return;
    }
    const bool has_credit = connection.waiting.operation_count() < options_.pipeline_credit;
    if (!connection.control.empty() || (!connection.ready.empty() && has_credit)) {
        connection.is_write_requested = true;
        actions_.emplace_back(write_action{connection.id});
    }
}

base::byte_view engine_core::begin_write(connection_id id, time_point now) {
    kv_connection* connection = find(id);
    if (connection == nullptr) {
        return http_.begin_write(id);
    }
    if (connection->state == connection_state::closed ||
        connection->state == connection_state::connecting) {
        return {};
    }
    connection->is_write_requested = false;
    if (!connection->outstanding().empty()) {
        return connection->outstanding();
    }
    std::vector<std::byte>& bytes = connection->begin_outgoing();
    base::byte_writer writer(bytes);
    while (bytes.size() < options_.write_size_max_bytes && encode_next(*connection, writer, now)) {
    }
    if (!connection->is_armed() && connection->waiting.operation_count() != 0) {
        wheel_.arm(*connection, add_saturated(now, options_.probe_after));
    }
    return connection->outstanding();
}

// Encodes the first of the ready list. False: nothing more can be sent now.
bool engine_core::encode_next(kv_connection& connection, base::byte_writer& out, time_point now) {
    operation_slot* slot = connection.ready.front();
    const bool has_credit = connection.waiting.operation_count() < options_.pipeline_credit;
    if (slot == nullptr || !has_credit) {
        return false;
    }
    const auto opaque = connection.waiting.insert(
        waiter_kind::operation, opcode_of(slot->request.kind), slot->index);
    if (!opaque) {
        return false;
    }
    const keyspace_entry& space = keyspaces_[slot->request.keyspace.value];
    encoding_context context;
    context.opaque = *opaque;
    context.vbucket = slot->vbucket;
    context.collection = space.entry == nullptr ? wire::default_collection : space.entry->id;
    context.form = connection.key_form();
    context.features = connection.features;
    context.compression = options_.enable_compression ? &options_.compression : nullptr;
    context.time_left = time_left(now, slot->deadline);
    const std::uint64_t offset = connection.offset_of_next();
    connection.ready.erase(*slot);
    if (auto encoded = encode_operation(out, slot->request, context); !encoded) {
        connection.waiting.erase(*connection.waiting.find(*opaque));
        slot->state = operation_state::running;
        complete_error(
            *slot, encoded.error().code, {.detail = std::move(encoded.error().detail)}, now);
        return true;
    }
    slot->state = operation_state::on_wire;
    slot->wire_offset = offset;
    slot->sent_before =
        std::exchange(slot->sent, sent_request{connection.id.value, *opaque, slot->endpoint});
    if (options_.observer) {
        attempt_record sent;
        sent.operation = slot->id().value;
        sent.client = client_number_;
        sent.connection = connection.id.value;
        sent.opaque = *opaque;
        sent.attempt = slot->attempts;
        sent.kind = to_string(slot->request.kind);
        sent.is_idempotent = slot->is_idempotent;
        sent.sent = now;
        options_.observer->on_attempt(sent);
    }
    return true;
}

void engine_core::on_written(connection_id id, std::size_t size, time_point now) {
    static_cast<void>(now);
    kv_connection* connection = find(id);
    if (connection == nullptr) {
        http_.on_written(id, size);
        return;
    }
    if (connection->state == connection_state::closed) {
        return;
    }
    const bool is_sound = connection->on_written(size);
    REPRISE_ASSERT(is_sound);
    request_write(*connection);
}

void engine_core::on_connection_due(kv_connection& connection, time_point now) {
    switch (connection.state) {
        case connection_state::connecting:
            return fail_connection(connection, to_string(connect_failure::timed_out), now);
        case connection_state::bootstrapping:
            return fail_connection(
                connection,
                connection.has_answered ? "the login was not done in time"
                                        : "no answer in time: not a Couchbase server",
                now);
        case connection_state::open:
            return probe(connection, now);
        case connection_state::closed:
            return;
    }
}

// Somebody waits for an answer on a connection that says nothing: is the peer still there?
void engine_core::probe(kv_connection& connection, time_point now) {
    if (connection.waiting.size() == 0) {
        return;
    }
    // Canceled requests hold their credit as long as they are not answered. Half of the window lost
    // to them for a while: it will not come back.
    if (connection.waiting.abandoned_count() <= options_.pipeline_credit / 2) {
        connection.clogged_since.reset();
    } else if (!connection.clogged_since) {
        connection.clogged_since = now;
    } else if (now >= add_saturated(*connection.clogged_since, options_.probe_timeout)) {
        return fail_connection(connection, "too many requests without an answer", now);
    }
    if (connection.probe_sent) {
        if (now >= add_saturated(*connection.probe_sent, options_.probe_timeout)) {
            return fail_connection(connection, "no answer to a probe", now);
        }
        return wheel_.arm(
            connection, add_saturated(*connection.probe_sent, options_.probe_timeout));
    }
    const time_point quiet_since = add_saturated(connection.received_last, options_.probe_after);
    if (now < quiet_since) {
        return wheel_.arm(connection, quiet_since);
    }
    send_own(
        connection, waiter_kind::probe, wire::opcode::noop, 0,
        wire::empty_request{wire::opcode::noop});
    connection.probe_sent = now;
    wheel_.arm(connection, add_saturated(now, options_.probe_timeout));
}

}  // namespace reprise::engine
