#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <reprise/sandbox/rebalance.hpp>

namespace reprise::sandbox::detail {

struct cluster_state;
struct bucket_record;

// One vbucket's way to its place.
struct planned_move {
    std::string bucket;
    std::size_t vbucket = 0;
    std::vector<std::int16_t> row;  // the target, by node number
};

// A rebalance that runs. Buckets, nodes and rows change by its own steps only (or a hard failover,
// which ends it), so the moves stay right.
struct rebalance_plan {
    std::uint64_t number = 0;
    rebalance_kind kind = rebalance_kind::rebalance;
    std::vector<planned_move> moves;
    std::size_t done_count = 0;
    std::vector<node_id> leaving;

    bool has_moves_left() const noexcept { return done_count < moves.size(); }
};

// Gives a vbucket the copies of `target`: data and locks go to the new active one, which keeps the
// uuid as in a takeover on real servers; new replicas are filled; copies not named any more are
// dropped. Without an active copy the fullest replica becomes it, or an empty one is made, under a
// new uuid. Nodes named must be up. Publishes nothing.
void place_vbucket(
    cluster_state& cluster, bucket_record& bucket, std::size_t number,
    const std::vector<std::int16_t>& target);

// Takes a node out of all rows and forward rows, at once: the first replica on a node that is up
// becomes active. The node's connections are closed, its data is gone. Publishes nothing.
void take_out(cluster_state& cluster, node_id node, node_state as);

// Forward maps vanish, the plan is gone. Publishes nothing.
void end_rebalance(cluster_state& cluster, rebalance_end how);

}  // namespace reprise::sandbox::detail
