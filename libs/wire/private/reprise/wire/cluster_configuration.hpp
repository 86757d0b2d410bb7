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

/// Why the parser rejected a configuration. A rejected configuration changes nothing: keep the old
/// one.
enum class configuration_errc : std::uint8_t {
    too_large = 1,         ///< larger than parse_configuration_options::size_max_bytes
    not_json,              ///< not valid JSON; the detail gives the position
    missing_member,        ///< a required member is missing
    wrong_type,            ///< a member has the wrong JSON type
    revision_invalid,      ///< rev is missing, negative or not below 2^64, or epoch is negative
    locator_unknown,       ///< nodeLocator is neither `vbucket` nor `ketama`
    host_invalid,          ///< a host or port is empty or malformed
    too_many_nodes,        ///< more nodes than node_count_max
    node_list_too_short,   ///< nodesExt has fewer entries than serverList
    vbucket_map_too_long,  ///< more vbuckets than vbucket_count_max
    row_too_wide,          ///< a row has more than one active node and three replicas
    node_out_of_range,     ///< an index is past the end of serverList or below -1
    forward_map_mismatch   ///< the forward map has a different number of rows
};

std::string_view to_string(configuration_errc code) noexcept;

struct configuration_error {
    configuration_errc code = configuration_errc::not_json;
    /// Where the error is, for example "vBucketServerMap.vBucketMap[12][0]". Empty if it concerns
    /// the whole text.
    std::string path;
    /// A readable explanation, for example "names node 7 of 2".
    std::string detail;
};

/// Returns for example "vBucketServerMap.vBucketMap[12][0]: index out of range: names node 7 of 2".
std::string to_string(const configuration_error& error);

inline constexpr std::size_t node_count_max = 4096;
inline constexpr std::size_t vbucket_count_max = 32768;
inline constexpr std::size_t replica_count_max = 3;

struct parse_configuration_options {
    /// The host through which the client reached the node that sent the text, without brackets or
    /// port. It replaces `$HOST` and any missing hostname.
    std::string source_host = "127.0.0.1";
    /// The parser rejects a larger text without reading it. In bytes.
    std::size_t size_max_bytes = std::size_t{8} * 1024 * 1024;
    /// Full configurations fetched over HTTP may lack `rev`. If this is false, they get revision 0.
    bool revision_required = true;
};

enum class node_locator : std::uint8_t {
    none,     ///< a global configuration, which has no bucket
    vbucket,  ///< the vbucket map routes keys
    ketama    ///< a memcached bucket, which has no map and no collections
};

using node_index = std::uint16_t;

/// One parsed configuration: the terse or full configuration of a bucket, or a global one. It is
/// immutable and compact. parse_cluster_configuration creates it; threads share it as a pointer to
/// const.
///
/// The map holds indexes into nodes(). A query returns "no node" for a vbucket past the end of the
/// map, for an entry of -1, and for an entry that a short row does not have.
class cluster_configuration {
public:
    /// Everything but the map. The parser fills it in; tests may build one directly.
    struct facts {
        configuration_revision revision;
        std::string bucket_name;  ///< empty in a global configuration
        std::string bucket_uuid;
        std::string bucket_type;  ///< `membase`, `ephemeral`, ...; empty before 7.1
        node_locator locator = node_locator::none;
        std::uint64_t collections_manifest_uid = 0;
        std::string cluster_name;
        std::string cluster_uuid;
        std::vector<cluster_node> nodes;
        /// The first `kv_node_count` entries of `nodes` hold this bucket's data.
        std::size_t kv_node_count = 0;
        std::size_t replica_count = 0;
        std::vector<std::string> bucket_capabilities;
        /// For example "n1ql.enhancedPreparedStatements". Empty unless the capabilities have
        /// version 1.
        std::vector<std::string> cluster_capabilities;
    };
    /// A map in one block: rows in order, each `width` entries wide, with -1 for "no node".
    struct flat_map {
        std::vector<std::int16_t> entries;
        std::size_t width = 0;
        std::size_t row_count() const noexcept { return width == 0 ? 0 : entries.size() / width; }
    };

    /// Each entry must be -1 or below facts.nodes.size(). The forward map must be empty or as long
    /// as the current one.
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

    /// All nodes of the cluster. The nodes that hold this bucket's data come first, in map order.
    std::span<const cluster_node> nodes() const noexcept { return facts_.nodes; }
    std::size_t kv_node_count() const noexcept { return facts_.kv_node_count; }

    /// The configured number of replicas. A row may have fewer.
    std::size_t replica_count() const noexcept { return facts_.replica_count; }
    /// Zero for ketama and global configurations, and until the first node owns a vbucket. Check it
    /// before you divide by it.
    std::size_t vbucket_count() const noexcept { return vbucket_count_; }
    /// Whether any vbucket has an active node.
    bool has_owners() const noexcept;

    [[gnu::always_inline]] std::optional<node_index> active_node(
        std::size_t vbucket) const noexcept {
        return entry(current_, vbucket, 0);
    }
    /// `replica` starts at 1.
    std::optional<node_index> replica_node(
        std::size_t vbucket, std::size_t replica) const noexcept {
        return replica == 0 ? std::nullopt : entry(current_, vbucket, replica);
    }
    /// The node that becomes active when the running rebalance ends. Empty without a forward map.
    std::optional<node_index> forward_node(std::size_t vbucket) const noexcept {
        return entry(forward_, vbucket, 0);
    }
    bool has_forward_map() const noexcept { return !forward_.entries.empty(); }

    /// Takes for example ("n1ql", "enhancedPreparedStatements").
    bool has_cluster_capability(
        std::string_view service_name, std::string_view name) const noexcept;
    /// Takes for example "collections".
    bool has_bucket_capability(std::string_view name) const noexcept;
    std::span<const std::string> bucket_capabilities() const noexcept {
        return facts_.bucket_capabilities;
    }
    std::span<const std::string> cluster_capabilities() const noexcept {
        return facts_.cluster_capabilities;
    }

private:
    [[gnu::always_inline]] static std::optional<node_index> entry(
        const flat_map& map, std::size_t vbucket, std::size_t column) noexcept {
        const std::size_t place = vbucket * map.width + column;
        if (column >= map.width || place >= map.entries.size()) {
            return std::nullopt;
        }
        const std::int16_t index = map.entries[place];
        return index < 0 ? std::nullopt : std::optional<node_index>(static_cast<node_index>(index));
    }

    facts facts_;
    flat_map current_;
    flat_map forward_;
    std::size_t vbucket_count_;
};

using cluster_configuration_ptr = std::shared_ptr<const cluster_configuration>;

/// Parses any kind of configuration. A configuration without a bucket `name` is global. Unknown
/// members are ignored, duplicate members are accepted because real servers send them, and `null`
/// counts as absent. Never throws on bad input.
std::expected<cluster_configuration_ptr, configuration_error> parse_cluster_configuration(
    std::string_view text, const parse_configuration_options& options = {});

}  // namespace reprise::wire
