#pragma once

#include <chrono>
#include <cstdint>

#include <reprise/base/strong_id.hpp>

namespace reprise::sandbox {

/// A node of the cluster. Nodes are numbered from 0 in the order of creation. Numbers are never
/// reused, so a node's number is not its index in a configuration.
using node_id = base::strong_id<struct node_id_tag, std::uint32_t>;

/// A key-value connection. Connections are numbered from 1 over all nodes of a cluster; numbers are
/// never reused.
using connection_id = base::strong_id<struct connection_id_tag, std::uint64_t>;

/// Time since 1970, as expiries need it. It is always an argument: the cluster has no clock. It
/// must not go backwards within one cluster (a socket front adds its steady clock to the wall time
/// of its start; a simulation may start anywhere).
using time_point = std::chrono::sys_time<std::chrono::nanoseconds>;

}  // namespace reprise::sandbox
