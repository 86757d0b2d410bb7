#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <reprise/wire/error_map.hpp>
#include <reprise/wire/framing_extras.hpp>

namespace reprise::sandbox {

/// A role and its scope, for example `data_reader[travel:inventory]`. docs/sandbox.md lists the
/// roles.
struct role_grant {
    std::string role{};
    /// Empty for roles that apply to the whole cluster; "*": every bucket.
    std::string bucket{};
    /// Empty: all scopes (or collections).
    std::string scope{};
    std::string collection{};

    friend bool operator==(const role_grant&, const role_grant&) = default;
};

/// A set of roles that several users share.
struct group_options {
    std::string name{};
    std::string description{};
    std::vector<role_grant> roles{};
    /// Stored and returned, but not used: there is no directory to query.
    std::string ldap_group_ref{};
};

/// A user who may log in.
struct user_options {
    std::string name{};
    std::string password{};
    /// The token that OAUTHBEARER accepts for this user; empty: none.
    std::string bearer_token{};
    /// A shorthand for roles that applies only if `roles` is not set. Empty makes the user an
    /// administrator; otherwise the user may use these buckets through every service.
    std::vector<std::string> buckets{};
    /// Whether this user can access xattrs that start with an underscore.
    bool can_access_system_xattrs = true;
    /// The user's own roles, in addition to those of the groups. Unset: see `buckets`.
    std::optional<std::vector<role_grant>> roles{};
    /// Names of groups; unknown ones are ignored.
    std::vector<std::string> groups{};
    /// Shown to people only.
    std::string full_name{};
};

enum class bucket_type : std::uint8_t {
    couchbase,  // stores documents on a (simulated) disk
    ephemeral   // memory only; refuses durability levels that persist
};

struct scope_options {
    std::string name{};
    std::vector<std::string> collections{};
};

/// The settings of a bucket that management requests can change.
struct bucket_settings {
    /// Whether a request can remove all documents at once.
    bool is_flush_enabled = false;
    /// The longest lifetime of documents; 0 s: no limit. A limit of the collection takes
    /// precedence.
    std::chrono::seconds max_ttl{0};
    /// Weaker writes are raised to this level; empty: none are.
    std::optional<wire::durability_level> durability_min{};

    /// The remaining settings are stored and returned, but have no effect: the sandbox never runs
    /// out of memory, stores no files and replicates to no other cluster.
    std::uint32_t ram_quota_mb = 100;
    bool has_replica_index = false;
    std::string eviction_policy{};  // empty: the default of the bucket type
    std::string compression_mode = "passive";
    std::string conflict_resolution = "seqno";
    std::string storage_backend = "couchstore";
    std::chrono::seconds history_retention{0};
    std::uint64_t history_retention_bytes = 0;
    bool keeps_history = true;  // default of collections that do not set it
};

struct bucket_options {
    std::string name = "default";
    bucket_type type = bucket_type::couchbase;
    /// 0..3; empty: the value of cluster_options.
    std::optional<std::size_t> replica_count{};
    /// False simulates the bucket of an old server, which refuses connections that negotiated
    /// collections.
    bool has_collections = true;
    /// In addition to `_default._default`, which always exists.
    std::vector<scope_options> scopes{};
    bucket_settings settings{};
};

/// The initial state of a cluster. Two clusters with equal options that receive equal calls produce
/// equal bytes.
struct cluster_options {
    /// Number of initial nodes, 1..256. All of them hold data.
    std::size_t node_count = 4;
    /// Copies of a bucket's documents in addition to the active one, 0..3.
    std::size_t replica_count = 1;
    /// Server groups of the nodes in turn: node i is in group i modulo their number. Empty: the
    /// nodes have none.
    std::vector<std::string> server_groups{};
    /// Number of vbuckets per bucket: a power of two, 1..32768.
    std::size_t vbucket_count = 1024;
    std::vector<bucket_options> buckets{};
    std::vector<user_options> users{};
    /// Seed of all randomness: uuids, nonces, error references, faults with a probability.
    std::uint64_t seed = 1;
    /// The host name that nodes are announced with until their endpoints are set.
    std::string hostname = "127.0.0.1";
    std::string cluster_name = "sandbox";
    /// Iterations of the password hash. Strict clients refuse fewer than 4096.
    std::uint32_t scram_iterations = 4096;
    /// Whether PLAIN is also offered without TLS, as real servers do by default.
    bool offers_plain_without_tls = true;
    /// The server duration reported to connections that negotiated Tracing.
    std::chrono::microseconds server_duration{8};
    /// Lock time if a request specifies none, 0, or more than the maximum.
    std::chrono::seconds lock_time_default{15};
    std::chrono::seconds lock_time_max{30};
    /// Largest value of a document, uncompressed. Bytes.
    std::size_t value_size_max_bytes = std::size_t{20} * 1024 * 1024;
    /// Largest number of simultaneous connections, over all nodes.
    std::size_t connection_count_max = 65'536;
    /// Number of entries that the audit log keeps. It drops older ones; counters are not affected.
    std::size_t audit_entry_count_max = 65'536;
    /// How long replicas take to acknowledge a durable write, which is pending until then. 0: no
    /// time.
    std::chrono::nanoseconds replication_delay{0};
    /// How long a new active copy takes to re-commit the pending writes it found. 0: no time.
    std::chrono::nanoseconds recommit_delay{0};
    /// Whether nodes with a query port announce that one request can prepare and run a statement.
    /// If false, such requests are refused (1065), as older servers do.
    bool offers_enhanced_prepared = true;
    /// The answer to get_error_map; empty: a map of all codes known to this project.
    std::optional<wire::error_map> error_map{};
};

/// Describes what is wrong with the options; empty if nothing is.
std::optional<std::string> find_problem(const bucket_options& bucket);
std::optional<std::string> find_problem(const cluster_options& options);

}  // namespace reprise::sandbox
