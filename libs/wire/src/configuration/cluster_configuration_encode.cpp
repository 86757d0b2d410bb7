#include <reprise/wire/cluster_configuration_encode.hpp>

#include <algorithm>

#include <reprise/base/hex.hpp>
#include <reprise/base/percent_encoding.hpp>
#include <reprise/json/write.hpp>
#include <reprise/wire/collections_manifest.hpp>

namespace reprise::wire {

namespace {

using description = cluster_configuration_description;

// Omits a service without a port, which is how a server reports its absence.
void write_ports(json::writer& out, std::string_view name, const service_ports& ports) {
    out.key(name).begin_object();
    for (std::size_t slot = 0; slot < service_count; ++slot) {
        for (const transport over : {transport::plain, transport::tls}) {
            const auto which = static_cast<service>(slot);
            if (ports.port(which, over) != 0) {
                out.member(port_member(which, over), ports.port(which, over));
            }
        }
    }
    out.end_object();
}

// One entry of nodesExt. It always has a hostname, because some clients accept its absence only for
// the answering node.
void write_node(json::writer& out, const cluster_node& node, bool is_this_node) {
    out.begin_object();
    out.member("hostname", node.hostname);
    if (is_this_node) {
        out.member("thisNode", true);
    }
    write_ports(out, "services", node.ports);
    if (!node.alternates.empty()) {
        out.key("alternateAddresses").begin_object();
        for (const alternate_address& address : node.alternates) {
            out.key(address.network).begin_object();
            out.member("hostname", address.hostname);
            // Sent even if empty, because a shipping client reads it unchecked.
            write_ports(out, "ports", address.ports);
            out.end_object();
        }
        out.end_object();
    }
    if (!node.server_group.empty()) {
        out.member("serverGroup", node.server_group);
    }
    if (!node.node_uuid.empty()) {
        out.member("nodeUUID", node.node_uuid);
    }
    out.end_object();
}

// The older list, which has only data nodes. Some clients use its length as their number.
void write_legacy_nodes(json::writer& out, const description& from) {
    out.key("nodes").begin_array();
    for (std::size_t index = 0; index < std::min(from.kv_node_count, from.nodes.size()); ++index) {
        const cluster_node& node = from.nodes[index];
        out.begin_object();
        const std::uint16_t views = node.ports.port(service::views, transport::plain);
        if (views != 0) {
            out.member(
                "couchApiBase",
                "http://" + to_host_port(node.hostname, views) + "/" +
                    base::percent_encode(from.bucket_name + "+" + from.bucket_uuid));
        }
        out.member(
            "hostname",
            to_host_port(node.hostname, node.ports.port(service::management, transport::plain)));
        out.key("ports").begin_object();
        const std::uint16_t direct = node.ports.port(service::key_value, transport::plain);
        if (direct != 0) {
            out.member("direct", direct);
        }
        out.end_object().end_object();
    }
    out.end_array();
}

// Writes -1 unchanged. Each row keeps its own width.
void write_rows(json::writer& out, std::string_view name, const vbucket_rows& rows) {
    out.key(name).begin_array();
    for (const auto& row : rows) {
        out.begin_array();
        for (const std::int16_t index : row) {
            out.value(index);
        }
        out.end_array();
    }
    out.end_array();
}

// serverList repeats the first nodes and thereby relates map entries to nodesExt.
void write_map(json::writer& out, const description& from) {
    out.key("vBucketServerMap").begin_object();
    out.member("hashAlgorithm", "CRC");
    out.member("numReplicas", from.replica_count);
    out.key("serverList").begin_array();
    for (std::size_t index = 0; index < std::min(from.kv_node_count, from.nodes.size()); ++index) {
        const cluster_node& node = from.nodes[index];
        out.value(
            to_host_port(node.hostname, node.ports.port(service::key_value, transport::plain)));
    }
    out.end_array();
    write_rows(out, "vBucketMap", from.vbucket_map);
    if (!from.forward_map.empty()) {
        write_rows(out, "vBucketMapForward", from.forward_map);
    }
    out.end_object();
}

// Writes what a global configuration does not have, except the map.
void write_bucket(json::writer& out, const description& from) {
    const std::string name = base::percent_encode(from.bucket_name);
    const std::string suffix = name + "?bucket_uuid=" + from.bucket_uuid;
    out.member("name", from.bucket_name);
    out.member("nodeLocator", "vbucket");
    out.member("bucketType", from.bucket_type);
    out.member("uuid", from.bucket_uuid);
    out.member("collectionsManifestUid", base::to_shortest_hex(from.collections_manifest_uid));
    out.member("uri", "/pools/default/buckets/" + suffix);
    out.member("streamingUri", "/pools/default/bucketsStreaming/" + suffix);
    out.member("bucketCapabilitiesVer", "");
    out.key("bucketCapabilities").begin_array();
    for (const std::string& capability : from.bucket_capabilities) {
        out.value(capability);
    }
    out.end_array();
    write_legacy_nodes(out, from);
}

// Groups by service, in the order in which the services first appear.
void write_cluster_capabilities(json::writer& out, const description& from) {
    out.key("clusterCapabilitiesVer").begin_array().value(1).value(0).end_array();
    out.key("clusterCapabilities").begin_object();
    std::vector<std::string_view> written;
    for (const auto& [service_name, ignored] : from.cluster_capabilities) {
        if (std::ranges::find(written, service_name) != written.end()) {
            continue;
        }
        written.push_back(service_name);
        out.key(service_name).begin_array();
        for (const auto& [other_service, capability] : from.cluster_capabilities) {
            if (other_service == service_name) {
                out.value(capability);
            }
        }
        out.end_array();
    }
    out.end_object();
}

}  // namespace

std::string encode_cluster_configuration(const cluster_configuration_description& from) {
    std::string text;
    json::writer out(text);
    out.begin_object();
    out.member("rev", from.revision.rev);
    if (from.revision.epoch > 0) {
        out.member("revEpoch", from.revision.epoch);
    }
    const bool is_bucket = !from.bucket_name.empty();
    if (is_bucket) {
        write_bucket(out, from);
    }
    out.key("nodesExt").begin_array();
    for (std::size_t index = 0; index < from.nodes.size(); ++index) {
        write_node(out, from.nodes[index], from.this_node == index);
    }
    out.end_array();
    write_cluster_capabilities(out, from);
    if (!from.cluster_name.empty()) {
        out.member("clusterName", from.cluster_name);
    }
    if (!from.cluster_uuid.empty()) {
        out.member("clusterUUID", from.cluster_uuid);
    }
    if (is_bucket) {
        write_map(out, from);
    }
    out.end_object();
    return text;
}

}  // namespace reprise::wire
