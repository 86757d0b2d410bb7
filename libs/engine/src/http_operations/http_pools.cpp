#include "http_operations/http_pools.hpp"

#include <algorithm>
#include <utility>

#include "connections/peer_address.hpp"

namespace reprise::engine {
namespace {

endpoint_state state_of(const http_connection& connection) noexcept {
    switch (connection.state) {
        case http_connection_state::connecting:
            return endpoint_state::connecting;
        case http_connection_state::idle:
        case http_connection_state::busy:
            return endpoint_state::connected;
        case http_connection_state::closed:
            break;
    }
    return endpoint_state::disconnecting;
}

}  // namespace

http_pool& http_pools::at(const wire::endpoint_view& address, wire::service service) {
    endpoint_record& endpoint = nodes_.endpoints().at(address.host, address.port);
    http_pool*& known = index_[key_of(endpoint, service)];
    if (known == nullptr) {
        pools_.push_back(std::make_unique<http_pool>());
        known = pools_.back().get();
        known->endpoint = &endpoint;
        known->service = service;
        endpoint.is_pooled = true;
    }
    return *known;
}

http_pool* http_pools::find(const wire::endpoint_view& address, wire::service service) const {
    const endpoint_record* endpoint = nodes_.endpoints().find(address.host, address.port);
    return endpoint == nullptr ? nullptr : find(*endpoint, service);
}

http_pool* http_pools::find(const endpoint_record& endpoint, wire::service service) const {
    const auto pool = index_.find(key_of(endpoint, service));
    return pool == index_.end() ? nullptr : pool->second;
}

http_pool* http_pools::find(const endpoint_record& endpoint) const noexcept {
    const auto found =
        std::ranges::find_if(pools_, [&](const auto& pool) { return pool->endpoint == &endpoint; });
    return found == pools_.end() ? nullptr : found->get();
}

http_connection* http_pools::find(connection_id id) const noexcept {
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

void http_pools::connect(http_pool& pool, time_point now) {
    const connection_id id = context_.next_connection();
    pool.connections.push_back(std::make_unique<http_connection>(id, pool));
    context_.wheel.arm(
        *pool.connections.back(), driver::add_saturated(now, context_.options.connect_timeout));
    context_.actions.emplace_back(connect_action{
        id,
        pool.endpoint->host,
        pool.endpoint->port,
        context_.options.transport,
        pool.endpoint->host,
        {}});
}

// As many as wait, within the bound.
bool http_pools::is_connection_wanted(const http_pool& pool) const noexcept {
    const auto connecting =
        static_cast<std::size_t>(std::ranges::count_if(pool.connections, [](const auto& each) {
            return each->state == http_connection_state::connecting;
        }));
    return connecting < pool.queue.size() &&
           pool.connections.size() < context_.options.http_connections_per_node_max;
}

void http_pools::connect_if_wanted(http_pool& pool, time_point now) {
    if (is_connection_wanted(pool) && !context_.is_closed) {
        context_.gate.ask(pool, connect_need::now);
        context_.gate.admit(now);
    }
}

bool http_pools::begin_connect(connect_request& request, time_point now) {
    auto& pool = static_cast<http_pool&>(request);
    if (!is_connection_wanted(pool)) {
        return false;
    }
    connect(pool, now);
    if (is_connection_wanted(pool)) {
        context_.gate.ask(pool, connect_need::now);  // behind the others
    }
    return true;
}

bool http_pools::may_carry_credentials(std::string_view peer) const noexcept {
    if (context_.options.allow_plain_http) {
        return true;
    }
    // Without verification the peer may be a relay, wherever the server is.
    return context_.options.transport == wire::transport::tls ? context_.options.tls.is_verified
                                                              : is_loopback(peer);
}

void http_pools::on_written(connection_id id, std::size_t size) {
    http_connection* connection = find(id);
    if (connection == nullptr) {
        return;
    }
    if (connection->state == http_connection_state::busy) {
        connection->written += size;
        REPRISE_ASSERT(connection->written <= connection->outgoing.size());
        if (connection->written < connection->outgoing.size()) {
            context_.actions.emplace_back(write_action{id});
        }
    }
}

void http_pools::drop(http_connection& connection) {
    context_.wheel.disarm(connection);
    connection.state = http_connection_state::closed;
    connection.slot = nullptr;
    context_.actions.emplace_back(close_action{connection.id});
    auto& own = connection.pool->connections;
    const auto at = std::ranges::find(own, &connection, &std::unique_ptr<http_connection>::get);
    closing_.push_back(std::move(*at));
    own.erase(at);
}

void http_pools::forget(http_connection& connection) {
    context_.wheel.disarm(connection);
    auto& own =
        connection.state == http_connection_state::closed ? closing_ : connection.pool->connections;
    std::erase_if(own, [&](const auto& each) { return each.get() == &connection; });
}

// The pools that a configuration in use names.
std::unordered_set<const http_pool*> http_pools::offered() const {
    std::unordered_set<const http_pool*> named;
    for (const auto& bucket : nodes_.buckets()) {
        const auto nodes = bucket->configuration ? bucket->configuration->nodes()
                                                 : std::span<const wire::cluster_node>{};
        for (const auto& node : nodes) {
            for (std::size_t index = 0; index < wire::service_count; ++index) {
                const auto service = static_cast<wire::service>(index);
                const auto at =
                    node.endpoint(service, context_.options.transport, nodes_.network());
                if (at) {
                    named.insert(find(*at, service));
                }
            }
        }
    }
    return named;
}

std::vector<http_pool*> http_pools::unoffered() const {
    std::vector<http_pool*> found;
    if (pools_.empty()) {
        return found;
    }
    const auto named = offered();
    for (const auto& pool : pools_) {
        if (!named.contains(pool.get())) {
            found.push_back(pool.get());
        }
    }
    return found;
}

bool http_pools::is_in_use(const http_pool& pool) const noexcept {
    return !pool.connections.empty() || !pool.queue.empty() ||
           std::ranges::any_of(closing_, [&](const auto& each) { return each->pool == &pool; });
}

void http_pools::forget_unoffered() {
    if (pools_.empty()) {
        return;
    }
    const auto named = offered();
    std::erase_if(pools_, [&](const auto& pool) {
        if (named.contains(pool.get())) {
            return false;
        }
        if (pool->endpoint->link_count == 0) {
            nodes_.breakers_of_nodes().forget(*pool->endpoint);
        }
        if (is_in_use(*pool)) {
            return false;
        }
        pool->endpoint->is_pooled = false;
        context_.gate.withdraw(*pool);
        index_.erase(key_of(*pool->endpoint, pool->service));
        return true;
    });
    for (const auto& pool : pools_) {
        pool->endpoint->is_pooled = true;  // two services may share an address
    }
}

void http_pools::describe(std::vector<endpoint_diagnostics>& out) const {
    for (const auto& pool : pools_) {
        endpoint_diagnostics entry;
        entry.service = pool->service;
        entry.remote = pool->endpoint->name;
        for (const auto& connection : pool->connections) {
            entry.state = state_of(*connection);
            entry.connection = connection->id;
            entry.active_last.reset();
            if (connection->state != http_connection_state::connecting) {
                entry.active_last = connection->active_last;
            }
            out.push_back(entry);
        }
        if (pool->connections.empty() && pool->failed_last && !context_.is_closed) {
            entry.problem = pool->problem;
            out.push_back(std::move(entry));
        }
    }
}

}  // namespace reprise::engine
