#pragma once

#include <expected>

#include <reprise/sandbox/cluster_errc.hpp>
#include <reprise/sandbox/ids.hpp>
#include <reprise/sandbox/node_disturbance.hpp>

namespace reprise::sandbox {

namespace detail {
struct cluster_state;
}

/// Disturbs single nodes; see cluster::disturbances().
class node_disturbances {
public:
    /// Replaces the node's disturbance; a default-constructed value ends it. Error: unknown_node.
    std::expected<void, cluster_errc> set(node_id node, const node_disturbance& how);
    /// Returns the default value (no disturbance) for an unknown node.
    node_disturbance of(node_id node) const noexcept;
    /// Sets only node_disturbance::is_error_map_corrupt. Error: unknown_node.
    std::expected<void, cluster_errc> set_error_map_corruption(node_id node, bool is_corrupt);

    /// While held, a node keeps announcing and pushing the configuration it had. Once released, it
    /// catches up.
    std::expected<void, cluster_errc> hold_configuration(node_id node, bool is_held);
    /// Makes the node push an older configuration of each kind once to all subscribed connections,
    /// as if it had been delayed on the network. Errors: unknown_node, nothing_older.
    std::expected<void, cluster_errc> replay_configuration(node_id node);

private:
    friend class cluster;
    explicit node_disturbances(detail::cluster_state& state) noexcept : state_(&state) {}

    detail::cluster_state* state_;
};

}  // namespace reprise::sandbox
