#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <reprise/wire/cluster_node.hpp>
#include <reprise/wire/configuration_revision.hpp>

namespace reprise::wire {

/// Rows of [active, replica 1, ...]: indexes into the description's nodes, or -1 for no node.
using vbucket_rows = std::vector<std::vector<std::int16_t>>;

/// Describes a cluster the way a server reports it. encode_cluster_configuration turns it into a
/// text that shipping clients accept, provided that
///   - every node has a management port, and all (hostname, management port) pairs differ,
///   - nodes with data come first, and rows refer only to those,
///   - the map of a bucket is not empty.
struct cluster_configuration_description {
    configuration_revision revision{1, 1};
    /// Empty for a global configuration, which has no bucket members.
    std::string bucket_name;
    std::string bucket_uuid;  ///< 32 hexadecimal digits
    std::string bucket_type = "membase";
    std::uint64_t collections_manifest_uid = 0;
    std::vector<std::string> bucket_capabilities;
    /// Pairs of service name and capability, for example ("n1ql", "enhancedPreparedStatements").
    std::vector<std::pair<std::string, std::string>> cluster_capabilities;
    std::string cluster_name;  ///< omitted if empty
    std::string cluster_uuid;  ///< omitted if empty
    /// The encoder ignores is_this_node and uses `this_node` below.
    std::vector<cluster_node> nodes;
    /// The first `kv_node_count` entries of `nodes` hold this bucket's data.
    std::size_t kv_node_count = 0;
    std::size_t replica_count = 0;
    vbucket_rows vbucket_map;
    /// Omitted if empty; never sent as null.
    vbucket_rows forward_map;
    /// Index of the node that answers. If empty, no node is marked.
    std::optional<std::size_t> this_node;
};

/// Returns the terse JSON form on one line.
std::string encode_cluster_configuration(const cluster_configuration_description& description);

}  // namespace reprise::wire
