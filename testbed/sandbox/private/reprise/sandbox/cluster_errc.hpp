#pragma once

#include <cstdint>
#include <string_view>

namespace reprise::sandbox {

/// Why a call on the cluster changed nothing.
enum class cluster_errc : std::uint8_t {
    unknown_node = 1,      // there is no such node, or it left the cluster
    unknown_bucket,        // no bucket of that name
    unknown_vbucket,       // not in the map
    unknown_scope,         // no scope of that name
    unknown_collection,    // no collection of that name in the scope
    unknown_user,          // no user of that name
    unknown_group,         // no group of that name
    already_exists,        // a bucket, scope, collection or user has this name
    name_invalid,          // not a legal name
    node_down,             // the node is down: it accepts nothing, and nothing can move to it
    last_node,             // the cluster must keep one node
    map_mismatch,          // the forward map has the wrong number of rows or names unknown nodes
    too_many_connections,  // cluster_options::connection_count_max is reached
    too_many_nodes,        // cluster_topology::node_count_max is reached
    not_failed_over,       // only a node that was failed over can be added back
    rebalance_running,     // a rebalance is running and must end or be stopped first
    no_rebalance,          // no rebalance is running
    no_replica,            // a vbucket of the node has no other copy on a node that is up
    connections_refused,   // a disturbance makes the node refuse new connections
    nothing_older,         // the node has never had another configuration
    unknown_code,          // not in the error map
};

std::string_view to_string(cluster_errc code) noexcept;

}  // namespace reprise::sandbox
