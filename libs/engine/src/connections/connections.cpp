// The life of a connection: it is opened for a link, probed while it is idle, and closed.

#include "connections/connections.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <reprise/wire/session_messages.hpp>

#include "connections/connection_problem.hpp"
#include "operations/key_value_operations.hpp"
#include "topology/srv_trust.hpp"

namespace reprise::engine {
namespace {

// Large values take fewer reads if these may grow.
constexpr std::size_t read_size_max = 4 * read_size_default;

// Whether abandoned requests occupy half of the window.
bool is_clogged(const kv_connection& connection, const engine_options& options) noexcept {
    return connection.waiting.abandoned_count() > options.pipeline_credit / 2;
}

}  // namespace

kv_connection* connections::find(connection_id id) noexcept {
    if (found_last_ != nullptr && found_last_->id == id) {
        return found_last_;
    }
    const auto found = connections_.find(id);
    if (found == connections_.end()) {
        return nullptr;
    }
    found_last_ = found->second.get();
    return found_last_;
}

void connections::forget(const kv_connection& connection) noexcept {
    found_last_ = nullptr;
    connections_.erase(connection.id);
}

bool connections::begin_connect(connect_request& request, time_point now) {
    auto& link = static_cast<node_link&>(request);
    if (const auto next = link.endpoint->logins->try_begin(now)) {
        link.has_failed = true;
        context_.wheel.arm(link, *next);
        return false;
    }
    link.has_old_identity = false;
    link.is_slow = false;
    link.is_silent = false;
    link.begun = now;
    const connection_id id = context_.next_connection();
    auto made =
        std::make_unique<kv_connection>(id, link, context_.options.pipeline_credit, value_pool_);
    link.connection = made.get();
    context_.wheel.arm(*made, driver::add_saturated(now, context_.options.connect_timeout));
    connections_.emplace(id, std::move(made));
    context_.actions.emplace_back(connect_action_for(id, *link.endpoint));
    return true;
}

// Decides for which names the node's certificate may be valid.
connect_action connections::connect_action_for(connection_id id, const endpoint_record& to) const {
    connect_action action{id,      to.host, to.port,      context_.options.transport,
                          to.host, {},      read_size_max};
    if (!to.srv_name.empty()) {
        const srv_trust trust = trust_in_srv_target(to.host, to.srv_name, context_.options);
        REPRISE_ASSERT(trust != srv_trust::none);
        (trust == srv_trust::by_name ? action.other_name : action.server_name) = to.srv_name;
    }
    return action;
}

void connections::on_connect_failed(
    kv_connection& connection, connect_failure failure, std::string_view text, time_point now) {
    if (connection.state == connection_state::closed) {
        forget(connection);
        return;
    }
    endpoint_record& endpoint = *connection.link->endpoint;
    const bool is_foreign_target =
        failure == connect_failure::tls_wrong_host && !endpoint.srv_name.empty();
    connection.link->problem =
        is_foreign_target ? srv_refusal(endpoint.host, endpoint.srv_name, srv_trust::by_certificate)
                          : connect_problem(failure, endpoint.host, text);
    context_.log(log_level::warn, endpoint.name + ": " + connection.link->problem);
    const bool is_terminal = is_tls_failure(failure);
    endpoint.terminal->is_tls_failed = endpoint.terminal->is_tls_failed || is_terminal;
    if (is_terminal) {
        endpoint.terminal->refusal.set(connection.link->problem);
        owners_.nodes.terminal().announce();
    }
    owners_.nodes.terminal().refresh();
    finish(connection, 0, true, now);
    forget(connection);
    if (is_terminal) {
        owners_.nodes.terminal().notify(nullptr, now);
    }
}

void connections::fail(kv_connection& connection, std::string_view why, time_point now) {
    if (connection.state == connection_state::closed) {
        return;
    }
    connection.link->problem = why;
    context_.log(
        log_level::warn, "closing " + connection.link->endpoint->name + ": " + std::string(why));
    context_.actions.emplace_back(close_action{connection.id});
    const bool has_failed = connection.state != connection_state::open;
    finish(connection, connection.outgoing.sent_end(0), has_failed, now);
}

void connections::on_closed(
    kv_connection& connection, close_reason reason, std::size_t unwritten_size, time_point now) {
    if (connection.state != connection_state::closed) {
        endpoint_record& endpoint = *connection.link->endpoint;
        const bool is_terminal = reason == close_reason::tls_alert;
        endpoint.terminal->is_tls_failed = endpoint.terminal->is_tls_failed || is_terminal;
        owners_.nodes.terminal().refresh();
        const bool has_failed = connection.state != connection_state::open;
        std::string& problem = connection.link->problem;
        problem = to_string(reason);
        if (has_failed && !is_terminal) {
            const bool is_over_tls = context_.options.transport == wire::transport::tls;
            problem = closed_problem(reason, connection.has_answered, is_over_tls);
        }
        context_.log(
            has_failed ? log_level::warn : log_level::info, endpoint.name + ": " + problem);
        if (is_terminal) {
            endpoint.terminal->refusal.set(problem);
            owners_.nodes.terminal().announce();
        }
        finish(connection, connection.outgoing.sent_end(unwritten_size), has_failed, now);
        if (is_terminal) {
            owners_.nodes.terminal().notify(nullptr, now);
        }
    }
    forget(connection);
}

// Ends the connection: its link reconnects, and its operations are dispatched again or fail.
void connections::finish(
    kv_connection& connection, std::uint64_t sent_end, bool has_failed, time_point now) {
    node_link& link = *connection.link;
    bucket_state& bucket = *link.bucket;
    connection.state = connection_state::closed;
    context_.wheel.disarm(connection);
    const bool has_wasted_proof = connection.bootstrap && connection.bootstrap->has_sent_proof() &&
                                  !connection.bootstrap->is_authenticated() &&
                                  !connection.is_given_up;
    if (connection.bootstrap) {
        keys_.forget(connection.id);
    }
    if (std::exchange(connection.has_error_map_share, false)) {
        link.endpoint->release_error_map();
    }
    std::vector<operation_slot*> slots;
    std::vector<collection_entry*> questions;
    for (opaque_entry& entry : connection.waiting.entries()) {
        if (entry.kind == waiter_kind::operation) {
            slots.push_back(&owners_.requests.slot(entry.target));
        } else if (entry.kind == waiter_kind::collection) {
            questions.push_back(bucket.collections[entry.target].get());
        } else if (entry.kind == waiter_kind::canary) {
            owners_.nodes.breakers_of_nodes().on_canary_lost(*link.endpoint, now);
        } else if (entry.kind == waiter_kind::configuration) {
            owners_.polls.on_lost(bucket, *link.endpoint, now);
        }
        if (entry.kind != waiter_kind::nobody) {
            connection.waiting.erase(entry);
        }
    }
    // Operations fail in the order in which they were sent; those that were never sent come last.
    std::ranges::sort(slots, {}, &operation_slot::wire_offset);
    while (operation_slot* slot = connection.ready.front()) {
        connection.ready.erase(*slot);
        slots.push_back(slot);
    }
    link.connection = nullptr;
    connection.link = nullptr;
    owners_.nodes.reconnect_later(link, has_failed, now);
    context_.gate.end_opening(connection.is_opening, now);
    owners_.requests.requeue(connection, slots, sent_end, now);
    for (collection_entry* entry : questions) {
        owners_.collection_ids.forget(*entry, now);
    }
    if (has_failed) {
        owners_.nodes.on_link_failed(link, now);
    }
    if (has_wasted_proof) {
        pace_logins(*link.endpoint, connection, now);
    }
}

void connections::on_due(kv_connection& connection, time_point now) {
    switch (connection.state) {
        case connection_state::connecting:
            return fail(connection, to_string(connect_failure::timed_out), now);
        case connection_state::bootstrapping:
            return fail(
                connection,
                connection.has_answered ? "the login timed out"
                                        : "no answer in time: not a Couchbase server",
                now);
        case connection_state::open:
            return probe(connection, now);
        case connection_state::closed:
            return;
    }
}

// Requests wait for an answer on a silent connection: checks whether the peer is still there.
void connections::probe(kv_connection& connection, time_point now) {
    if (connection.waiting.size() == 0) {
        return;
    }
    // Canceled requests keep their credit until they are answered. If they occupy half of the
    // window for some time, the answers will not arrive any more.
    if (!is_clogged(connection, context_.options)) {
        connection.clogged_since.reset();
    } else if (!connection.clogged_since) {
        connection.clogged_since = now;
    } else if (
        now >= driver::add_saturated(*connection.clogged_since, context_.options.probe_timeout)) {
        return fail(connection, "too many requests without an answer", now);
    }
    if (connection.probe_sent) {
        if (now >= driver::add_saturated(*connection.probe_sent, context_.options.probe_timeout)) {
            return fail(connection, "no answer to a probe", now);
        }
        return context_.wheel.arm(
            connection,
            driver::add_saturated(*connection.probe_sent, context_.options.probe_timeout));
    }
    const time_point quiet_since =
        driver::add_saturated(connection.received_last, context_.options.probe_after);
    if (now < quiet_since) {
        return context_.wheel.arm(connection, quiet_since);
    }
    connection.send_own(
        waiter_kind::probe, wire::opcode::noop, 0, wire::empty_request{wire::opcode::noop},
        context_.actions);
    connection.probe_sent = now;
    context_.wheel.arm(connection, driver::add_saturated(now, context_.options.probe_timeout));
}

void connections::close_drained(kv_connection& connection, time_point now) {
    const bool is_in_use =
        connection.state == connection_state::open &&
        (connection.waiting.live_operation_count() != 0 || !connection.ready.empty());
    if (connection.link == nullptr || !connection.link->is_retired || is_in_use) {
        return;
    }
    context_.actions.emplace_back(close_action{connection.id});
    connection.is_given_up = true;
    finish(connection, connection.outgoing.sent_end(0), false, now);
}

void connections::on_abandoned(kv_connection& connection, time_point now) {
    if (!context_.is_closed && is_clogged(connection, context_.options)) {
        fail(connection, "too many requests without an answer", now);
    }
}

bool connections::send_canary(const endpoint_record& endpoint) {
    const auto open = std::ranges::find_if(connections_, [&](const auto& candidate) {
        return candidate.second->is_open() && candidate.second->link->endpoint == &endpoint;
    });
    return open != connections_.end() &&
           open->second
               ->send_own(
                   waiter_kind::canary, wire::opcode::noop, 0,
                   wire::empty_request{wire::opcode::noop}, context_.actions)
               .has_value();
}

void connections::close() {
    for (const auto& [id, connection] : connections_) {
        context_.wheel.disarm(*connection);
        connection->link = nullptr;
        if (connection->state != connection_state::closed) {
            connection->state = connection_state::closed;
            context_.actions.emplace_back(close_action{id});
        }
    }
}

void connections::add_to(engine_statistics& seen) const noexcept {
    for (const auto& [id, connection] : connections_) {
        seen.connections_open += connection->is_open() ? 1U : 0U;
        seen.operations_ready += connection->ready.size();
        seen.operations_on_wire += connection->waiting.operation_count();
    }
}

}  // namespace reprise::engine
