#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <reprise/wire/cluster_configuration_encode.hpp>

namespace reprise::sandbox::detail {

// Computes an even map for the nodes of `keep` that moves as few copies as possible: the number of
// actives differs by at most one between nodes, that of replicas by little. An active copy that
// must move prefers a node that has a replica. Rows have 1 + replica_count places, -1 where there
// are too few nodes. `keep` must not be empty; rows contain node numbers, -1 for none.
wire::vbucket_rows place_evenly(
    const wire::vbucket_rows& current, const std::vector<std::int16_t>& keep,
    std::size_t replica_count);

}  // namespace reprise::sandbox::detail
