#include "topology/configuration_publisher.hpp"

#include <algorithm>
#include <utility>

#include <reprise/base/bytes.hpp>
#include <reprise/wire/compression.hpp>

#include "cluster_state.hpp"
#include "key_value/session.hpp"

namespace reprise::sandbox::detail {

bool known_configuration::set(
    const configuration_description_ptr& description, std::size_t this_node) {
    if (description_ == description) {
        return false;
    }
    older_description_ = std::exchange(description_, description);
    this_node_ = this_node;
    text_.clear();
    compressed_.clear();
    return true;
}

const std::string& known_configuration::text() const {
    if (text_.empty() && description_) {
        wire::cluster_configuration_description own = *description_;
        own.this_node = this_node_;
        text_ = wire::encode_cluster_configuration(own);
    }
    return text_;
}

const std::vector<std::byte>& known_configuration::compressed() const {
    if (compressed_.empty() && description_) {
        compressed_ = wire::compress(base::as_bytes(text()));
    }
    return compressed_;
}

known_configuration known_configuration::older() const {
    known_configuration found;
    found.description_ = older_description_;
    found.this_node_ = this_node_;
    return found;
}

std::vector<const node_record*> configured_nodes(const cluster_state& cluster) {
    std::vector<const node_record*> members;
    // The map contains positions, so the nodes that it may name come first.
    for (const bool is_joining : {false, true}) {
        for (const auto& node : cluster.nodes) {
            if (node->is_configured() && node->is_joining == is_joining) {
                members.push_back(node.get());
            }
        }
    }
    return members;
}

namespace {

// Converts rows of node numbers to rows of positions in the configuration.
wire::vbucket_rows to_positions(
    const wire::vbucket_rows& rows, const std::vector<const node_record*>& members) {
    std::vector<std::int16_t> position_of;
    for (std::size_t i = 0; i < members.size(); ++i) {
        position_of.resize(std::max<std::size_t>(position_of.size(), members[i]->id.value + 1), -1);
        position_of[members[i]->id.value] = static_cast<std::int16_t>(i);
    }
    wire::vbucket_rows out = rows;
    for (auto& row : out) {
        for (std::int16_t& entry : row) {
            const auto number = static_cast<std::size_t>(entry);
            entry =
                entry < 0 || number >= position_of.size() ? std::int16_t{-1} : position_of[number];
        }
    }
    return out;
}

bool offers(const std::vector<const node_record*>& members, wire::service which) {
    return std::ranges::any_of(members, [which](const node_record* node) {
        return node->endpoints.ports.port(which, wire::transport::plain) != 0;
    });
}

wire::cluster_configuration_description describe_nodes(
    const cluster_state& cluster, const std::vector<const node_record*>& members) {
    wire::cluster_configuration_description description;
    description.revision = {1, cluster.revision};
    description.cluster_name = cluster.options.cluster_name;
    description.cluster_uuid = cluster.cluster_uuid;
    for (const node_record* node : members) {
        wire::cluster_node& announced = description.nodes.emplace_back(node->endpoints);
        if (const auto& groups = cluster.options.server_groups; !groups.empty()) {
            announced.server_group = groups[node->id.value % groups.size()];
        }
    }
    if (cluster.options.offers_enhanced_prepared && offers(members, wire::service::query)) {
        description.cluster_capabilities.emplace_back("n1ql", "enhancedPreparedStatements");
    }
    if (offers(members, wire::service::search)) {
        description.cluster_capabilities.emplace_back("search", "scopedSearchIndex");
    }
    return description;
}

}  // namespace

configuration_description_ptr describe_bucket(
    const cluster_state& cluster, const bucket_record& bucket) {
    const auto members = configured_nodes(cluster);
    auto description = describe_nodes(cluster, members);
    description.bucket_name = bucket.options.name;
    description.bucket_uuid = bucket.uuid;
    description.bucket_type =
        bucket.options.type == bucket_type::ephemeral ? "ephemeral" : "membase";
    description.collections_manifest_uid = bucket.manifest.uid;
    // Lists exactly what is implemented: clients refuse operations whose capability is missing, and
    // rely on the others. Without `couchapi`, clients assume that a bucket has no views.
    description.bucket_capabilities = {
        "durableWrite",
        "tombstonedUserXAttrs",
        "cbhello",
        "touch",
        "cccp",
        "nodesExt",
        "xattr",
        "preserveExpiry",
        "subdoc.ReplicaRead",
        "subdoc.ReplaceBodyWithXattr",
        "subdoc.DocumentMacroSupport",
        "subdoc.ReviveDocument",
        "subdoc.AccessDeleted",
        "subdoc.BinaryXattr"};
    if (bucket.options.type != bucket_type::ephemeral) {
        description.bucket_capabilities.emplace_back("rangeScan");
    }
    if (offers(members, wire::service::views)) {
        description.bucket_capabilities.emplace_back("couchapi");
    }
    if (bucket.options.has_collections) {
        description.bucket_capabilities.insert(
            description.bucket_capabilities.begin(), "collections");
    }
    description.kv_node_count =
        static_cast<std::size_t>(std::ranges::count_if(members, &node_record::is_member));
    description.replica_count = bucket.replica_count;
    description.vbucket_map = to_positions(bucket.rows, members);
    description.forward_map = to_positions(bucket.forward_rows, members);
    return std::make_shared<const wire::cluster_configuration_description>(std::move(description));
}

configuration_description_ptr describe_cluster(const cluster_state& cluster) {
    const auto members = configured_nodes(cluster);
    auto description = describe_nodes(cluster, members);
    description.kv_node_count = members.size();
    return std::make_shared<const wire::cluster_configuration_description>(std::move(description));
}

void cluster_state::announce() {
    std::size_t position = 0;
    for (const node_record* member : configured_nodes(*this)) {
        const auto& node = nodes[member->id.value];
        if (!node->is_configuration_held) {
            node->global_configuration.set(published, position);
            for (const auto& [name, bucket] : buckets) {
                if (node_bucket* local = find_local(*node, name); local != nullptr) {
                    local->configuration.set(bucket->published, position);
                }
            }
        }
        ++position;
    }
    for (const auto& [number, which] : sessions) {
        which->on_configuration();
    }
    ++generation;
    // Copies may have become active, and replicas may be available again.
    settle_pending(time_seen);
}

void cluster_state::publish(bucket_record& bucket) {
    ++revision;
    bucket.published = describe_bucket(*this, bucket);
    announce();
}

void cluster_state::publish_all() {
    ++revision;
    published = describe_cluster(*this);
    for (const auto& [name, bucket] : buckets) {
        bucket->published = describe_bucket(*this, *bucket);
    }
    announce();
}

}  // namespace reprise::sandbox::detail
