// Bytes and frames of a connection. Incoming answers go to the part that waits for them; outgoing
// operations are written as credit allows.

#include <utility>

#include <reprise/wire/cluster_messages.hpp>
#include <reprise/wire/range_scan_messages.hpp>

#include "connections/connection_problem.hpp"
#include "connections/connections.hpp"
#include "operations/key_value_operations.hpp"

namespace reprise::engine {
namespace {

bool was_issued(const kv_connection& connection, std::uint32_t opaque) noexcept {
    const bool is_of_bootstrap = opaque != 0 && opaque <= connection.bootstrap_opaque_last;
    return is_of_bootstrap || connection.waiting.was_issued(opaque);
}

}  // namespace

void connections::on_bytes(
    kv_connection& connection, const base::block_ref* owner, base::byte_view bytes,
    time_point now) {
    if (connection.state == connection_state::closed ||
        connection.state == connection_state::connecting) {
        return;
    }
    connection.received_last = now;
    connection.probe_sent.reset();
    if (connection.link->endpoint->terminal->is_tls_failed) {
        connection.link->endpoint->terminal->is_tls_failed = false;
        owners_.nodes.terminal().announce();
        owners_.nodes.terminal().refresh();
    }
    if (!std::exchange(connection.has_received, true) && is_stranger(bytes)) {
        return fail(connection, stranger_problem(bytes), now);
    }
    connection.reader.feed(bytes);
    while (connection.state != connection_state::closed) {
        const auto next = connection.reader.next();
        if (!next) {
            const std::string name(wire::to_string(next.error()));
            return fail(
                connection,
                connection.has_answered ? "malformed frame: " + name : stranger_problem(bytes),
                now);
        }
        if (!*next) {
            break;
        }
        connection.has_answered = true;
        const base::block_ref* const gathered = connection.reader.gathered_block();
        on_frame(connection, **next, {gathered != nullptr ? gathered : owner, value_pool_}, now);
    }
    if (connection.state != connection_state::closed) {
        connection.request_write(context_.actions);
        if (connection.link->is_retired) [[unlikely]] {
            close_drained(connection, now);
        }
    }
}

void connections::on_frame(
    kv_connection& connection, const wire::frame_view& frame, const frame_source& source,
    time_point now) {
    if (frame.is_server_push()) {
        return on_push(connection, frame, now);
    }
    if (connection.state == connection_state::bootstrapping) {
        connection.bootstrap->on_response(frame, connection.control);
        return on_bootstrap_step(connection, now);
    }
    on_answer(connection, frame, source, now);
}

void connections::on_answer(
    kv_connection& connection, const wire::frame_view& frame, const frame_source& source,
    time_point now) {
    opaque_entry* entry = connection.waiting.find(frame.opaque());
    if (entry == nullptr && !was_issued(connection, frame.opaque())) {
        // The answers on this connection can no longer be matched to their requests.
        return fail(connection, never_issued_text(frame.opaque()), now);
    }
    if (entry == nullptr) {
        return on_orphan(connection, frame);  // the server answered twice
    }
    if (entry->op != frame.op()) {
        return fail(connection, "an answer with the wrong opcode", now);
    }
    if (wire::has_further_frames(frame)) {
        if (entry->kind == waiter_kind::operation) {
            operation_slot& slot = owners_.requests.slot(entry->target);
            owners_.requests.scans().on_part(connection, slot, frame, now);
        }
        return;  // the last frame ends the request
    }
    const opaque_entry answered = *entry;
    connection.waiting.erase(*entry);
    if (answered.kind == waiter_kind::operation) [[likely]] {
        return owners_.requests.on_response(connection, answered.target, frame, source, now);
    }
    on_own_answer(connection, answered, frame, now);
}

// The answer to a request of the client itself.
void connections::on_own_answer(
    kv_connection& connection, const opaque_entry& answered, const wire::frame_view& frame,
    time_point now) {
    switch (answered.kind) {
        case waiter_kind::configuration:
            return owners_.polls.on_answer(connection, frame, now);
        case waiter_kind::collection:
            return on_collection_answer(connection, answered.target, frame, now);
        case waiter_kind::abandoned:
            return on_orphan(connection, frame);
        case waiter_kind::canary:
            return owners_.nodes.close_breaker(*connection.link->endpoint, now);
        case waiter_kind::probe:
        case waiter_kind::operation:
        case waiter_kind::nobody:
            return;
    }
}

// An answer that nobody waits for.
void connections::on_orphan(const kv_connection& connection, const wire::frame_view& frame) {
    ++context_.counters.orphans;
    for (const auto& observer : context_.options.operation_observers) {
        observer->on_orphan({wire::to_string(frame.op()), connection.link->endpoint->name});
    }
}

void connections::on_collection_answer(
    kv_connection& connection, std::uint32_t index, const wire::frame_view& frame, time_point now) {
    collection_entry& entry = *connection.link->bucket->collections[index];
    switch (owners_.collection_ids.on_answer(entry, *connection.link->endpoint, frame, now)) {
        case collection_answer::taken:
            return;
        case collection_answer::undecodable:
            fail(connection, "an answer that cannot be decoded", now);
            return owners_.collection_ids.forget(entry, now);
        case collection_answer::drop_connection:
            return fail(connection, "the server's status requires it", now);
    }
}

void connections::on_push(
    kv_connection& connection, const wire::frame_view& frame, time_point now) {
    if (connection.bootstrap && !connection.bootstrap->is_authenticated()) {
        return;  // nothing that arrives before the login is trusted
    }
    if (frame.server_op() != wire::server_opcode::cluster_map_change_notification) {
        return;  // clients may ignore other kinds
    }
    const auto pushed = wire::cluster_map_change_notification::decode(frame);
    if (!pushed) {
        return fail(connection, "a push that cannot be decoded", now);
    }
    const bool is_initialised = !pushed->epoch || *pushed->epoch >= 0;
    bucket_state* bucket = connection.link->bucket;
    if (bucket->name != pushed->bucket) {
        bucket = pushed->bucket.empty() ? &owners_.nodes.buckets().at({}) : nullptr;
    }
    if (bucket == nullptr || !is_initialised) {
        ++context_.counters.configurations_refused;
        return;
    }
    if (pushed->config.empty()) {
        const wire::configuration_revision announced{pushed->epoch.value_or(0), pushed->rev};
        if (!bucket->configuration || bucket->configuration->revision() < announced) {
            owners_.polls.want(*bucket, now);
        }
        return;
    }
    owners_.nodes.take_push(*bucket, *pushed, connection.link->endpoint->host, now);
}

base::byte_views connections::begin_write(kv_connection& connection, time_point now) {
    if (connection.state == connection_state::closed ||
        connection.state == connection_state::connecting) {
        return {};
    }
    connection.is_write_requested = false;
    if (!connection.outgoing.is_written()) {
        return connection.outgoing.outstanding();
    }
    base::byte_writer writer = connection.begin_outgoing();
    owners_.requests.encode_ready(connection, writer, now);
    if (!connection.is_armed() && connection.waiting.operation_count() != 0) {
        context_.wheel.arm(connection, driver::add_saturated(now, context_.options.probe_after));
    }
    return connection.outgoing.outstanding();
}

void connections::on_written(kv_connection& connection, std::size_t size) {
    if (connection.state == connection_state::closed) {
        return;
    }
    const bool is_sound = connection.outgoing.on_written(size);
    REPRISE_ASSERT(is_sound);
    connection.request_write(context_.actions);
}

}  // namespace reprise::engine
