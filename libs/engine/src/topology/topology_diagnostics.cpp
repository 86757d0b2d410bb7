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

}  // namespace reprise::engine
