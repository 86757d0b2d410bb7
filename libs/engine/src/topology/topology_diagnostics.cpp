// Describes all key-value connections for diagnostics.

#include <utility>

#include "connections/kv_connection.hpp"
#include "topology/topology.hpp"

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

}  // namespace

void topology::describe(std::vector<endpoint_diagnostics>& out) const {
    for (const auto& bucket : buckets_) {
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
            } else if (link->is_retired || context_.is_closed) {
                continue;  // not in use
            }
            entry.problem = link->problem;
            if (entry.state == endpoint_state::connected && !bucket->configuration) {
                entry.problem = bucket->configuration_problem;
            }
            out.push_back(std::move(entry));
        }
    }
}

std::vector<service_address> topology::service_addresses(std::string_view name) const {
    std::vector<service_address> found;
    const wire::cluster_configuration* known = buckets_.services_of(name);
    if (known == nullptr) {
        return found;
    }
    if (const bucket_state* bucket = buckets_.find(name); bucket != nullptr) {
        for (const auto& link : bucket->links) {
            if (!link->is_retired && link->ordinal == 0) {
                found.push_back({wire::service::key_value, link->endpoint->name});
            }
        }
    }
    for (const wire::cluster_node& node : known->nodes()) {
        for (const wire::service each : wire::list_services(wire::is_http_service)) {
            if (const auto at = node.endpoint(each, context_.options.transport, network_)) {
                found.push_back({each, wire::to_host_port(at->host, at->port)});
            }
        }
    }
    return found;
}

}  // namespace reprise::engine
