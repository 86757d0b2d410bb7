// HTTP operations on their way to a connection: nodes, pools, queues.

#include <algorithm>
#include <utility>

#include "connections/connection_problem.hpp"
#include "engine_core.hpp"
#include "http_flow.hpp"

namespace reprise::engine {

http_exchange::~http_exchange() = default;

http_flow::~http_flow() = default;

http_slot& http_flow::make_slot(http_request&& request, time_point now) {
    auto made = std::make_unique<http_slot>();
    http_slot& slot = *made;
    slot.id = operation_id{next_id_++};
    slots_.emplace(slot.id.value, std::move(made));
    slot.state = http_state::running;
    slot.request = std::move(request);
    slot.started = now;
    return slot;
}

operation_id http_flow::start(http_request&& request, completion&& done, time_point now) {
    http_slot& slot = make_slot(std::move(request), now);
    const operation_id id = slot.id;
    slot.done = std::move(done);
    const duration usual = core_.options_.http.timeout_of(slot.request.service);
    slot.deadline =
        std::min(slot.request.deadline, add_saturated(now, slot.request.timeout.value_or(usual)));
    if (core_.is_closed_) {
        complete_error(slot, errc::request_canceled, false, "the client is closed", now);
    } else if (slot.deadline <= now) {
        complete_error(slot, errc::unambiguous_timeout, false, {}, now);
    } else {
        begin_attempt(slot, now);
    }
    return id;
}

// The newest configuration that says where the services are.
const wire::cluster_configuration* http_flow::configuration_for(
    const http_slot& slot) const noexcept {
    return core_.topology_.services_of(slot.request.bucket);
}

// From the start, or after a wait: every node may be tried again.
void http_flow::begin_attempt(http_slot& slot, time_point now) {
    slot.attempt_started = now;
    dispatch(slot, now);
}

void http_flow::dispatch(http_slot& slot, time_point now) {
    slot.state = http_state::running;
    slot.endpoint = -1;
    const wire::cluster_configuration* known = configuration_for(slot);
    if (known == nullptr) {
        return wait_for_configuration(slot, now);
    }
    if (slot.was_alerted && !has_node_left(slot)) {
        slot.was_alerted = false;  // if it is tried again, they are asked again
        return raise(slot, terminal_reason_for(slot).value_or(retry_reason::tls_error), now);
    }
    http_pool* pool = choose_pool(slot, *known, turn_++);
    if (pool == nullptr) {
        return dispatch_failed(slot, retry_reason::service_not_available, now);
    }
    slot.endpoint = static_cast<std::int32_t>(pool->endpoint->number);
    if (!is_allowed(*pool)) {
        return breaker_refused(slot, now);
    }
    enqueue(slot, *pool, now);
}

void http_flow::wait_for_configuration(http_slot& slot, time_point now) {
    const std::string& bucket = slot.request.bucket;
    core_.topology_.open(core_.topology_.bucket(bucket), now);
    bucket_state& source = core_.topology_.bucket(
        core_.topology_.is_closed_to_key_value(bucket) ? std::string_view() : bucket);
    core_.topology_.open(source, now);
    const time_point due = waiting_end(slot, now);
    if (has_given_up(source) || due <= now) {
        return dispatch_failed(slot, retry_reason::node_not_available, now);
    }
    if (core_.parked_count_ >= core_.options_.parked_count_max) {
        return refuse_to_wait(slot, now);
    }
    park(slot, topology_waiters_, due);
}

// In turn; one whose circuit breaker is closed before all others, then one that may be asked at
// all, then a node that works before one that does not, then another one than where it failed
// before the same again.
http_pool* http_flow::choose_pool(
    const http_slot& slot, const wire::cluster_configuration& in, std::size_t first) {
    http_pool* best = nullptr;
    int best_rank = -1;
    const auto nodes = in.nodes();
    for (std::size_t step = 0; step < nodes.size(); ++step) {
        const auto address = nodes[(first + step) % nodes.size()].endpoint(
            slot.request.service, core_.options_.transport, core_.topology_.network());
        if (!address) {
            continue;
        }
        http_pool& pool = pool_at(*address, slot.request.service);
        const bool is_other = static_cast<std::int32_t>(pool.endpoint->number) != slot.avoided;
        const bool has_failed = pool.failed_last || pool.is_tls_failed;
        const int rank = (is_allowed(pool) ? 8 : 0) + (pool.is_plain_refused ? 0 : 4) +
                         (has_failed ? 0 : 2) + (is_other ? 1 : 0);
        if (rank > best_rank) {
            best = &pool;
            best_rank = rank;
        }
    }
    return best;
}

http_pool& http_flow::pool_at(const wire::endpoint_view& at, wire::service service) {
    endpoint_record& endpoint = core_.endpoints_.at(at.host, at.port);
    http_pool*& known = pool_index_[pool_key(endpoint, service)];
    if (known == nullptr) {
        pools_.push_back(std::make_unique<http_pool>());
        known = pools_.back().get();
        known->endpoint = &endpoint;
        known->service = service;
        endpoint.is_pooled = true;
    }
    return *known;
}

http_pool* http_flow::find_pool(const wire::endpoint_view& at, wire::service service) const {
    const endpoint_record* endpoint = core_.endpoints_.find(at.host, at.port);
    if (endpoint == nullptr) {
        return nullptr;
    }
    const auto pool = pool_index_.find(pool_key(*endpoint, service));
    return pool == pool_index_.end() ? nullptr : pool->second;
}

void http_flow::enqueue(http_slot& slot, http_pool& pool, time_point now) {
    // The one used last is the least likely to be closed by the server meanwhile.
    const auto idle = std::ranges::find_if(pool.connections, [](const auto& each) {
        return each->state == http_connection_state::idle;
    });
    if (idle != pool.connections.end()) {
        return send(slot, **idle, now);
    }
    // Waiting for a connection is waiting, too. The client's own canaries are few.
    if (core_.parked_count_ >= core_.options_.parked_count_max && !slot.is_canary) {
        return refuse_to_wait(slot, now);
    }
    slot.state = http_state::queued;
    pool.queue.push_back(slot);
    ++core_.parked_count_;
    core_.context_.wheel.arm(slot, queue_due(slot, pool, now));
    connect_if_wanted(pool, now);
}

// As many as wait, within the bound.
bool http_flow::is_connection_wanted(const http_pool& pool) const noexcept {
    const auto connecting =
        static_cast<std::size_t>(std::ranges::count_if(pool.connections, [](const auto& each) {
            return each->state == http_connection_state::connecting;
        }));
    return connecting < pool.queue.size() &&
           pool.connections.size() < core_.options_.http.connections_per_node_max;
}

void http_flow::connect_if_wanted(http_pool& pool, time_point now) {
    if (is_connection_wanted(pool) && !core_.is_closed_) {
        core_.context_.gate.ask(pool, connect_need::now);
        core_.context_.gate.admit(now);
    }
}

bool http_flow::begin_connect(connect_wish& wish, time_point now) {
    auto& pool = static_cast<http_pool&>(wish);
    if (!is_connection_wanted(pool)) {
        return false;
    }
    const connection_id id = core_.context_.next_connection();
    pool.connections.push_back(std::make_unique<http_connection>(id, pool));
    core_.context_.wheel.arm(
        *pool.connections.back(), add_saturated(now, core_.options_.connect_timeout));
    core_.context_.actions.emplace_back(connect_action{
        id, pool.endpoint->host, pool.endpoint->port, core_.options_.transport,
        pool.endpoint->host});
    if (is_connection_wanted(pool)) {
        core_.context_.gate.ask(pool, connect_need::now);  // behind the others
    }
    return true;
}

http_connection* http_flow::find(connection_id id) noexcept {
    for (const auto& pool : pools_) {
        for (const auto& connection : pool->connections) {
            if (connection->id == id) {
                return connection.get();
            }
        }
    }
    const auto gone = std::ranges::find(closing_, id, &http_connection::id);
    return gone == closing_.end() ? nullptr : gone->get();
}

void http_flow::on_connected(connection_id id, std::string_view peer, time_point now) {
    http_connection* connection = find(id);
    if (connection == nullptr || connection->state != http_connection_state::connecting) {
        return;
    }
    http_pool& pool = *connection->pool;
    core_.context_.gate.end_opening(connection->is_opening, now);
    pool.problem.clear();
    pool.failed_last.reset();
    connection->active_last = now;
    connection->may_carry_credentials = core_.may_authorize(peer);
    pool.is_plain_refused = !connection->may_carry_credentials;
    if (pool.is_plain_refused) {
        drop(*connection);
        return refuse_plain(pool, peer, now);
    }
    serve(*connection, now);
}

void http_flow::on_connect_failed(
    connection_id id, connect_failure failure, std::string_view text, time_point now) {
    http_connection* connection = find(id);
    if (connection == nullptr) {
        return;
    }
    if (connection->state != http_connection_state::connecting) {
        forget(*connection);
        return;
    }
    http_pool& pool = *connection->pool;
    pool.problem = connect_problem(failure, pool.endpoint->host, text);
    core_.context_.log(log_level::warn, pool.endpoint->name + ": " + pool.problem);
    pool.failed_last = now;
    const bool is_terminal = is_tls_failure(failure);
    pool.is_tls_failed = pool.is_tls_failed || is_terminal;
    core_.context_.gate.end_opening(connection->is_opening, now);
    forget(*connection);
    fail_queue(pool, now);
    if (is_terminal) {
        on_terminal_state(now);
    }
}

// Whoever waits for a connection of this pool goes elsewhere, unless others still serve it.
void http_flow::fail_queue(http_pool& pool, time_point now) {
    if (!pool.connections.empty()) {
        return;
    }
    for (std::size_t left = pool.queue.size(); left > 0; --left) {
        http_slot& slot = *pool.queue.front();
        leave_place(slot);
        slot.avoided = slot.endpoint;
        dispatch_failed(slot, retry_reason::node_not_available, now);
    }
}

// An idle connection takes the next of its pool's queue.
void http_flow::serve(http_connection& connection, time_point now) {
    connection.state = http_connection_state::idle;
    http_slot* next = connection.pool->queue.front();
    if (next == nullptr) {
        core_.context_.wheel.arm(connection, add_saturated(now, core_.options_.http.idle_timeout));
        return;
    }
    leave_place(*next);
    send(*next, connection, now);
}

void http_flow::on_topology(time_point now) {
    forget_pools();
    look_again(now);
}

void http_flow::look_again(time_point now) {
    wake_refused(now);
    for (std::size_t left = topology_waiters_.size(); left > 0; --left) {
        http_slot& slot = *topology_waiters_.front();
        leave_place(slot);
        begin_attempt(slot, now);
    }
}

void http_flow::on_connection_due(http_connection& connection, time_point now) {
    switch (connection.state) {
        case http_connection_state::connecting: {
            http_pool& pool = *connection.pool;
            pool.failed_last = now;
            pool.problem = to_string(connect_failure::timed_out);
            core_.context_.log(log_level::warn, pool.endpoint->name + ": " + pool.problem);
            core_.context_.gate.end_opening(connection.is_opening, now);
            drop(connection);
            return fail_queue(pool, now);
        }
        case http_connection_state::idle:
            return drop(connection);
        case http_connection_state::busy:
        case http_connection_state::closed:
            return;
    }
}

// Asks the driver to close it. It stays known until the driver says that it is gone.
void http_flow::drop(http_connection& connection) {
    core_.context_.wheel.disarm(connection);
    connection.state = http_connection_state::closed;
    connection.slot = nullptr;
    core_.context_.actions.emplace_back(close_action{connection.id});
    auto& own = connection.pool->connections;
    const auto at = std::ranges::find(own, &connection, &std::unique_ptr<http_connection>::get);
    closing_.push_back(std::move(*at));
    own.erase(at);
}

// The driver has nothing more to say about it.
void http_flow::forget(http_connection& connection) {
    core_.context_.wheel.disarm(connection);
    auto& own =
        connection.state == http_connection_state::closed ? closing_ : connection.pool->connections;
    std::erase_if(own, [&](const auto& each) { return each.get() == &connection; });
}

}  // namespace reprise::engine
