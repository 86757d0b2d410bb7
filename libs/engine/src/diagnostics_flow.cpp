// A look at all connections.

#include "engine_core.hpp"

namespace reprise::engine {
namespace {

endpoint_state state_of(const kv_connection& connection, bool is_retired) noexcept {
    switch (connection.state) {
        case connection_state::connecting:
        case connection_state::bootstrapping:
            return endpoint_state::connecting;
        case connection_state::open:
            return is_retired ? endpoint_state::disconnecting : endpoint_state::connected;
        case connection_state::closed:
            break;
    }
    return endpoint_state::disconnecting;
}

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

engine_diagnostics engine_core::diagnostics() const {
    engine_diagnostics seen;
    seen.client = context_.client_number;
    for (const auto& bucket : topology_.buckets()) {
        for (const auto& link : bucket->links) {
            endpoint_diagnostics entry;
            entry.remote = link->endpoint->name;
            entry.bucket = bucket->name;
            if (const kv_connection* connection = link->connection) {
                entry.state = state_of(*connection, link->is_retired);
                entry.connection = connection->id;
                if (connection->state != connection_state::connecting) {
                    entry.active_last = connection->received_last;
                }
            } else if (link->is_retired || is_closed_) {
                continue;  // nobody wants it
            }
            entry.problem = link->problem;
            if (entry.state == endpoint_state::connected && !bucket->configuration) {
                entry.problem = bucket->configuration_problem;
            }
            seen.endpoints.push_back(std::move(entry));
        }
    }
    http_.describe(seen.endpoints);
    return seen;
}

void http_flow::describe(std::vector<endpoint_diagnostics>& out) const {
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
        if (pool->connections.empty() && pool->failed_last && !core_.is_closed_) {
            entry.problem = pool->problem;
            out.push_back(std::move(entry));
        }
    }
}

}  // namespace reprise::engine
