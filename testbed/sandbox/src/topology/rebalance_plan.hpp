#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <reprise/sandbox/rebalance.hpp>

namespace reprise::sandbox::detail {

struct cluster_state;
struct bucket_record;

// The move of one vbucket.
struct planned_move {
    std::string bucket;
    std::size_t vbucket = 0;
    std::vector<std::int16_t> row;  // the target row, in node numbers
};

// A running rebalance. Only its own steps (or a hard failover, which ends it) change buckets, nodes
// and rows, so the planned moves stay valid.
struct rebalance_plan {
    std::uint64_t number = 0;
    rebalance_kind kind = rebalance_kind::rebalance;
    std::vector<planned_move> moves;
    std::size_t done_count = 0;
    std::vector<node_id> leaving;

    bool has_moves_left() const noexcept { return done_count < moves.size(); }
};

// Gives a vbucket the copies of `target`. Data and locks move to the new active copy, which keeps
// the uuid as in a takeover on real servers; new replicas are filled; copies that `target` does not
// name are dropped. Without an active copy, the fullest replica, or else an empty copy, becomes
// active with a new uuid. The named nodes must be up. Publishes nothing.
void place_vbucket(
    cluster_state& cluster, bucket_record& bucket, std::size_t number,
    const std::vector<std::int16_t>& target);

// Removes a node from all rows and forward rows at once: the first replica on a node that is up
// becomes active. Closes the node's connections and drops its data. Publishes nothing.
void take_out(cluster_state& cluster, node_id node, node_state as);

// Removes the forward maps and the plan. Publishes nothing.
void end_rebalance(cluster_state& cluster, rebalance_end how);

}  // namespace reprise::sandbox::detail
