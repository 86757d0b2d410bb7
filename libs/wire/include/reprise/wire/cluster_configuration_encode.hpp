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

// Rows of [active, replica 1, ...], indexes into the description's nodes, -1 for none.
using vbucket_rows = std::vector<std::vector<std::int16_t>>;

// What a server tells about its cluster, in plain words. encode_cluster_configuration makes of it a
// text that shipping clients accept, provided that
//   - every node has a management port, and (hostname, management port) pairs differ,
//   - nodes with data come first, and rows name only those,
//   - the map is not empty for a bucket.
struct cluster_configuration_description {
    configuration_revision revision{1, 1};
    // Empty: a global configuration, without any bucket member.
    std::string bucket_name;
    std::string bucket_uuid;  // 32 hexadecimal digits
    std::string bucket_type = "membase";
    std::uint64_t collections_manifest_uid = 0;
    std::vector<std::string> bucket_capabilities;
    // (service name, capability), for example ("n1ql", "enhancedPreparedStatements").
    std::vector<std::pair<std::string, std::string>> cluster_capabilities;
    std::string cluster_name;  // left out if empty
    std::string cluster_uuid;  // left out if empty
    // is_this_node is ignored here: see `this_node` below.
    std::vector<cluster_node> nodes;
    // The first so many of `nodes` hold this bucket's data.
    std::size_t kv_node_count = 0;
    std::size_t replica_count = 0;
    vbucket_rows vbucket_map;
    // Left out if empty, never sent as null.
    vbucket_rows forward_map;
    // Index of the node that answers; empty: none is marked.
    std::optional<std::size_t> this_node;
};

// The terse JSON form, one line.
std::string encode_cluster_configuration(const cluster_configuration_description& description);

}  // namespace reprise::wire
