#include "topology/route.hpp"

namespace reprise::engine {
namespace {

// The node of the forward map, unless it is the one that has just refused.
std::optional<wire::node_index> usable_forward(
    const wire::cluster_configuration& configuration, std::size_t vbucket,
    std::optional<wire::node_index> refused) noexcept {
    const auto node = configuration.forward_node(vbucket);
    return node == refused ? std::nullopt : node;
}

}  // namespace

route_step on_not_my_vbucket(
    const wire::cluster_configuration& configuration, std::size_t vbucket, std::size_t replica,
    route_state& state) noexcept {
    if (configuration.revision() > state.revision) {
        return route_step::newer_map;  // choose_node will use the new current map
    }
    if (replica == 0 && state.map == route_map::current &&
        usable_forward(configuration, vbucket, state.node)) {
        state.map = route_map::forward;
        return route_step::at_once;
    }
    return route_step::wait;
}

}  // namespace reprise::engine
