#include "route.hpp"

#include "planted_bug.hpp"

namespace reprise::engine {
namespace {

// The forward entry, unless it names the node that has just refused.
std::optional<wire::node_index> usable_forward(
    const wire::cluster_configuration& configuration, std::size_t vbucket,
    std::optional<wire::node_index> refused) noexcept {
    const auto node = configuration.forward_node(vbucket);
#if defined(REPRISE_MUTANT_VB_10)
    refused.reset();
#endif
    return node == refused ? std::nullopt : node;
}

}  // namespace

std::optional<wire::node_index> choose_node(
    const wire::cluster_configuration& configuration, std::size_t vbucket, std::size_t replica,
    route_state& state) noexcept {
    const bool is_newer = configuration.revision() > state.revision;
#if defined(REPRISE_MUTANT_VB_03)
    const bool back_to_current = false;
#elif defined(REPRISE_MUTANT_VB_04)
    const bool back_to_current = is_newer || state.map == route_map::forward;
#else
    const bool back_to_current = is_newer;
#endif
    if (back_to_current) {
        state.map = route_map::current;
    }
    std::optional<wire::node_index> node;
    if (replica != 0 && !planted(bug::replica_read_from_active)) {
        node = configuration.replica_node(vbucket, replica);
    } else if (state.map == route_map::forward) {
        node = configuration.forward_node(vbucket);
    } else {
        node = configuration.active_node(vbucket);
#if defined(REPRISE_MUTANT_VB_08)
        node = node.value_or(wire::node_index{0});
#endif
    }
    state.revision = configuration.revision();
    state.node = node;
    return node;
}

route_step on_not_my_vbucket(
    const wire::cluster_configuration& configuration, std::size_t vbucket, std::size_t replica,
    route_state& state) noexcept {
    if (configuration.revision() > state.revision) {
        return route_step::newer_map;  // choose_node goes to the new current map
    }
    if (replica == 0 && state.map == route_map::current &&
        usable_forward(configuration, vbucket, state.node)) {
        state.map = route_map::forward;
#if defined(REPRISE_MUTANT_VB_02)
        return route_step::wait;
#else
        return route_step::at_once;
#endif
    }
    if (planted(bug::back_to_current_map)) {
        state.map = route_map::current;
    }
    return route_step::wait;
}

}  // namespace reprise::engine
