#pragma once

#include <chrono>
#include <cstdint>

#include <reprise/base/strong_id.hpp>

namespace reprise::sandbox {

// A node of the cluster, numbered from 0 in the order of creation. Never reused: a node that left
// keeps its number, so it is not the index of a node in a configuration.
using node_id = base::strong_id<struct node_id_tag, std::uint32_t>;

// A key-value connection, numbered from 1 over all nodes of a cluster. Never reused.
using connection_id = base::strong_id<struct connection_id_tag, std::uint64_t>;

// Time since 1970, as expiries need it. Always an argument: the cluster has no clock of its own.
// It must not go backwards within one cluster (a socket front adds its steady clock to the wall
// time of its start; a simulation counts from wherever it likes).
using time_point = std::chrono::sys_time<std::chrono::nanoseconds>;

}  // namespace reprise::sandbox
