// Takes HTTP operations to a connection: chooses nodes, pools and queues.

#include <algorithm>
#include <utility>

#include "connections/connection_problem.hpp"
#include "http_operations/http_operations.hpp"
#include "topology/terminal_state.hpp"

namespace reprise::engine {

operation_id http_operations::start(http_request&& request, completion&& done, time_point now) {
    http_slot& slot = endings_.make_slot(std::move(request));
    const operation_id id = slot.id;
    const duration usual = timeout_of(slot.request.service, context_.options);
    parts_.life.start(
        slot, std::move(done), {slot.request.timeout, usual, slot.request.deadline}, now);
    if (parts_.decider.watch().is_on()) {
        parts_.decider.watch().on_start(
            names_of(slot), slot.request.bucket, slot.request.own_user_data());
    }
    const duration delay = std::max(parts_.decider.begin(slot, now), slot.request.delay);
    if (context_.is_closed) {
        endings_.complete_error(slot, errc::request_canceled, false, "the client is closed", now);
    } else if (slot.deadline <= now) {
        endings_.complete_error(slot, errc::unambiguous_timeout, false, {}, now);
    } else if (delay > duration::zero()) {
        waiting_.park_before_start(slot, delay, now);
    } else {
        begin_attempt(slot, now);
    }
    return id;
}

void http_operations::begin_attempt(http_slot& slot, time_point now) {
    if (std::exchange(slot.request.delay, {}) > duration::zero()) {
        slot.started = now;  // the wait is not a part of the operation
    }
    slot.attempt_started = now;
    dispatch(slot, now);
}

void http_operations::dispatch(http_slot& slot, time_point now) {
    slot.endpoint = -1;
    const wire::cluster_configuration* known = candidates_.configuration_for(slot);
    if (known == nullptr) {
        return wait_for_configuration(slot, now);
    }
    if (slot.was_alerted && !candidates_.has_node_left(slot)) {
        slot.was_alerted = false;  // the next attempt checks it again
        return raise(
            slot, candidates_.terminal_reason_for(slot).value_or(retry_reason::tls_error), now);
    }
    http_pool* pool = candidates_.choose(slot, *known);
    if (pool == nullptr) {
        return dispatch_failed(slot, retry_reason::service_not_available, now);
    }
    slot.endpoint = static_cast<std::int32_t>(pool->endpoint->number);
    if (!http_nodes::is_allowed(*pool)) {
        return breaker_refused(slot, now);
    }
    enqueue(slot, *pool, now);
}

void http_operations::wait_for_configuration(http_slot& slot, time_point now) {
    const std::string& bucket = slot.request.bucket;
    parts_.nodes.open(parts_.nodes.buckets().at(bucket), now);
    bucket_state& source = parts_.nodes.buckets().at(
        parts_.nodes.buckets().is_closed_to_key_value(bucket) ? std::string_view() : bucket);
    parts_.nodes.open(source, now);
    const time_point due = waiting_end(slot, now);
    if (has_given_up(source) || due <= now) {
        return dispatch_failed(slot, retry_reason::node_not_available, now);
    }
    waiting_.park_for_configuration(slot, due, now);
}

void http_operations::enqueue(http_slot& slot, http_pool& pool, time_point now) {
    // The server is least likely to have closed the connection that was used last.
    const auto idle = std::ranges::find_if(pool.connections, [](const auto& each) {
        return each->state == http_connection_state::idle;
    });
    if (idle != pool.connections.end()) {
        static_cast<void>(transfers_.try_send(slot, **idle, now));  // or it has been refused
        return;
    }
    if (slot.is_canary) {
        // The client sends one canary per breaker. It does not take a place from a user's
        // operation.
        parts_.life.queue_ready(slot, pool.queue);
    } else if (parts_.life.has_place()) {
        parts_.life.queue_waiting(slot, pool.queue, queue_due(slot, pool, now));
    } else {
        return apply(slot, parts_.life.refuse_place(slot, now), now);
    }
    pools_.connect_if_wanted(pool, now);
}

void http_operations::on_connected(connection_id id, std::string_view peer, time_point now) {
    http_connection* connection = pools_.find(id);
    if (connection == nullptr || connection->state != http_connection_state::connecting) {
        return;
    }
    http_pool& pool = *connection->pool;
    context_.gate.end_opening(connection->is_opening, now);
    pool.problem.clear();
    pool.failed_last.reset();
    connection->active_last = now;
    connection->may_carry_credentials = pools_.may_carry_credentials(peer);
    pool.is_plain_refused = !connection->may_carry_credentials;
    if (pool.is_plain_refused) {
        pools_.drop(*connection);
        return refuse_plain(pool, peer, now);
    }
    transfers_.serve(*connection, now);
}

void http_operations::on_connect_failed(
    connection_id id, connect_failure failure, std::string_view text, time_point now) {
    http_connection* connection = pools_.find(id);
    if (connection == nullptr) {
        return;
    }
    if (connection->state != http_connection_state::connecting) {
        pools_.forget(*connection);
        return;
    }
    http_pool& pool = *connection->pool;
    pool.problem = connect_problem(failure, pool.endpoint->host, text);
    context_.log(log_level::warn, pool.endpoint->name + ": " + pool.problem);
    pool.failed_last = now;
    const bool is_terminal = is_tls_failure(failure);
    pool.is_tls_failed = pool.is_tls_failed || is_terminal;
    context_.gate.end_opening(connection->is_opening, now);
    pools_.forget(*connection);
    fail_queue(pool, now);
    if (is_terminal) {
        on_terminal_state(now);
    }
}

void http_operations::fail_queue(http_pool& pool, time_point now) {
    const bool is_connecting = std::ranges::any_of(pool.connections, [](const auto& each) {
        return each->state == http_connection_state::connecting;
    });
    if (is_connecting) {
        return;
    }
    // Open connections may serve the queue, but only when their answers have arrived.
    const bool is_open = !pool.connections.empty();
    const auto moves = [&](const http_slot& slot) {
        return !is_open || (!slot.is_canary && candidates_.has_fresh_node(slot));
    };
    waiting_.empty_queue(pool, moves, [&](http_slot& slot) {
        slot.avoided = slot.endpoint;
        is_open ? begin_attempt(slot, now)
                : dispatch_failed(slot, retry_reason::node_not_available, now);
    });
}

void http_operations::on_topology(time_point now) {
    // An operation that fails may start others, and these may add pools.
    for (http_pool* const pool : pools_.unoffered()) {
        waiting_.empty_queue(*pool, [&](http_slot& slot) {
            slot.is_canary ? end_canary(slot, now) : begin_attempt(slot, now);
        });
    }
    pools_.forget_unoffered();
    waiting_.find_nodes_again(now);
}

void http_operations::on_connection_due(http_connection& connection, time_point now) {
    switch (connection.state) {
        case http_connection_state::connecting: {
            http_pool& pool = *connection.pool;
            pool.failed_last = now;
            pool.problem = to_string(connect_failure::timed_out);
            context_.log(log_level::warn, pool.endpoint->name + ": " + pool.problem);
            context_.gate.end_opening(connection.is_opening, now);
            pools_.drop(connection);
            return fail_queue(pool, now);
        }
        case http_connection_state::idle:
            return pools_.drop(connection);
        case http_connection_state::busy:
        case http_connection_state::closed:
            return;
    }
}

}  // namespace reprise::engine
