#include "world/host_names.hpp"
#include "world/network.hpp"
#include "world/world.hpp"

// The network's part of name servers that lie: whom a client asks for, and whose certificate it
// accepts.

namespace reprise::sim {

void network::find_host(sim_link& link, const engine::connect_action& action) {
    const auto node = node_of_host(world_.plan, action.host);
    link.node = sandbox::node_id{node && *node < node_count_ ? *node : 0};
    if (!world_.plan.has_lying_name_server()) {
        return;
    }
    if (!node) {
        link.node = sandbox::node_id{static_cast<std::uint32_t>(node_count_ - 1)};
        link.host = is_foreign(action.host) ? host_kind::foreign : host_kind::missing;
    }
    link.is_name_valid = action.server_name == action.host || action.other_name == action.host;
    world_.checks.trust.on_host(link.client, action, link.host);
}

std::optional<engine::connect_failure> network::accept_at_foreign_host(std::uint32_t index) {
    const sim_link& link = *links_[index];
    if (link.host == host_kind::missing) {
        return engine::connect_failure::name_not_found;
    }
    if (link.is_tls && !link.is_name_valid) {
        return engine::connect_failure::tls_wrong_host;
    }
    world_.checks.trust.on_trusted(
        index, "is ready to log in to a host that only an SRV record names");
    return engine::connect_failure::refused;
}

}  // namespace reprise::sim
