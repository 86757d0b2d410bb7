#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/wire/cluster_node.hpp>
#include <reprise/wire/configuration_revision.hpp>

namespace reprise::wire {

// Why a configuration was refused. A refused configuration changes nothing: keep the old one.
enum class configuration_errc : std::uint8_t {
    too_large = 1,         // over parse_configuration_options::size_max_bytes
    not_json,              // not JSON; the detail says where
    missing_member,        // a member this kind of configuration must have
    wrong_type,            // a member of another JSON type
    revision_invalid,      // rev missing, negative or not below 2^64; epoch negative
    locator_unknown,       // nodeLocator neither `vbucket` nor `ketama`
    host_invalid,          // empty or unreadable host or port
    too_many_nodes,        // over node_count_max
    node_list_too_short,   // nodesExt does not cover serverList
    vbucket_map_too_long,  // over vbucket_count_max
    row_too_wide,          // more than one active and three replicas
    node_out_of_range,     // an index beyond serverList, or below -1
    forward_map_mismatch   // forward map with another number of rows
};

std::string_view to_string(configuration_errc code) noexcept;

struct configuration_error {
    configuration_errc code = configuration_errc::not_json;
    // Where: "vBucketServerMap.vBucketMap[12][0]"; empty for the whole text.
    std::string path;
    // What is wrong there, for people: "names node 7 of 2".
    std::string detail;
};

// "vBucketServerMap.vBucketMap[12][0]: index out of range: names node 7 of 2"
std::string to_string(const configuration_error& error);

inline constexpr std::size_t node_count_max = 4096;
inline constexpr std::size_t vbucket_count_max = 32768;
inline constexpr std::size_t replica_count_max = 3;

struct parse_configuration_options {
    // The host the client used to reach the node that sent the text, without brackets and port. It
    // stands for `$HOST` and for a missing hostname.
    std::string source_host = "127.0.0.1";
    // Larger texts are refused unread. Bytes.
    std::size_t size_max_bytes = std::size_t{8} * 1024 * 1024;
    // Full configurations over HTTP may lack `rev`; with false such a one gets revision 0.
    bool revision_required = true;
};

enum class node_locator : std::uint8_t {
    none,     // global configuration: no bucket
    vbucket,  // keys are routed by the vbucket map
    ketama    // memcached bucket: no map, no collections
};

using node_index = std::uint16_t;

// One parsed configuration: terse or full bucket configuration, or a global one. Immutable and
// compact; made by parse_cluster_configuration and shared between threads as pointer to const.
//
// Indexes given by the map are indexes into nodes(). Queries with a vbucket past the map answer
// "no node", as do entries of -1 and entries a short row does not have.
class cluster_configuration {
public:
    // Everything that is not the map; parse fills it, tests may.
    struct facts {
        configuration_revision revision;
        std::string bucket_name;  // empty: global configuration
        std::string bucket_uuid;
        std::string bucket_type;  // `membase`, `ephemeral`, ...; empty before 7.1
        node_locator locator = node_locator::none;
        std::uint64_t collections_manifest_uid = 0;
        std::string cluster_name;
        std::string cluster_uuid;
        std::vector<cluster_node> nodes;
        // The first so many of `nodes` hold this bucket's data.
        std::size_t kv_node_count = 0;
        std::size_t replica_count = 0;
        std::vector<std::string> bucket_capabilities;
        // "n1ql.enhancedPreparedStatements", ...; empty unless their version is 1.
        std::vector<std::string> cluster_capabilities;
    };
    // A map as one block: row after row, each `width` wide, -1 for "no node".
    struct flat_map {
        std::vector<std::int16_t> entries;
        std::size_t width = 0;
        std::size_t row_count() const noexcept { return width == 0 ? 0 : entries.size() / width; }
    };

    // Entries must be -1 or below facts.nodes.size(); a forward map is empty or as long as the map.
    cluster_configuration(facts given, flat_map current, flat_map forward) noexcept;

    const configuration_revision& revision() const noexcept { return facts_.revision; }
    bool is_global() const noexcept { return facts_.bucket_name.empty(); }
    const std::string& bucket_name() const noexcept { return facts_.bucket_name; }
    const std::string& bucket_uuid() const noexcept { return facts_.bucket_uuid; }
    const std::string& bucket_type() const noexcept { return facts_.bucket_type; }
    node_locator locator() const noexcept { return facts_.locator; }
    std::uint64_t collections_manifest_uid() const noexcept {
        return facts_.collections_manifest_uid;
    }
    const std::string& cluster_name() const noexcept { return facts_.cluster_name; }
    const std::string& cluster_uuid() const noexcept { return facts_.cluster_uuid; }

    // All nodes of the cluster; those of this bucket's data come first, in the map's order.
    std::span<const cluster_node> nodes() const noexcept { return facts_.nodes; }
    std::size_t kv_node_count() const noexcept { return facts_.kv_node_count; }

    // Replicas the bucket is set to have. Rows may have fewer.
    std::size_t replica_count() const noexcept { return facts_.replica_count; }
    // 0 for ketama and global configurations, and while nobody owns anything yet: never use it as a
    // divisor unchecked.
    std::size_t vbucket_count() const noexcept { return current_.row_count(); }
    // Whether some vbucket has an active node.
    bool has_owners() const noexcept;

    std::optional<node_index> active_node(std::size_t vbucket) const noexcept {
        return entry(current_, vbucket, 0);
    }
    // `replica` counts from 1.
    std::optional<node_index> replica_node(
        std::size_t vbucket, std::size_t replica) const noexcept {
        return replica == 0 ? std::nullopt : entry(current_, vbucket, replica);
    }
    // The active node after the running rebalance; empty without a forward map.
    std::optional<node_index> forward_node(std::size_t vbucket) const noexcept {
        return entry(forward_, vbucket, 0);
    }
    bool has_forward_map() const noexcept { return !forward_.entries.empty(); }

    // For example ("n1ql", "enhancedPreparedStatements").
    bool has_cluster_capability(
        std::string_view service_name, std::string_view name) const noexcept;
    std::span<const std::string> bucket_capabilities() const noexcept {
        return facts_.bucket_capabilities;
    }
    std::span<const std::string> cluster_capabilities() const noexcept {
        return facts_.cluster_capabilities;
    }

private:
    static std::optional<node_index> entry(
        const flat_map& map, std::size_t vbucket, std::size_t column) noexcept {
        if (column >= map.width || vbucket >= map.row_count()) {
            return std::nullopt;
        }
        const std::int16_t index = map.entries[vbucket * map.width + column];
        return index < 0 ? std::nullopt : std::optional<node_index>(static_cast<node_index>(index));
    }

    facts facts_;
    flat_map current_;
    flat_map forward_;
};

using cluster_configuration_ptr = std::shared_ptr<const cluster_configuration>;

// Reads any kind of configuration: it is global if it has no bucket `name`. Unknown members are
// ignored, duplicate members accepted (real servers send some), `null` counts as absent. Never
// throws on input.
std::expected<cluster_configuration_ptr, configuration_error> parse_cluster_configuration(
    std::string_view text, const parse_configuration_options& options = {});

}  // namespace reprise::wire
