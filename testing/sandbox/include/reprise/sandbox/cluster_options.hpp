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

// A role, and where it holds: `data_reader[travel:inventory]`. docs/sandbox.md lists the roles.
struct role_grant {
    std::string role{};
    // Empty for roles of the whole cluster; "*": every bucket.
    std::string bucket{};
    // Empty: all of them.
    std::string scope{};
    std::string collection{};

    friend bool operator==(const role_grant&, const role_grant&) = default;
};

// Roles that users share.
struct group_options {
    std::string name{};
    std::string description{};
    std::vector<role_grant> roles{};
    // Kept and shown: there is no directory to ask.
    std::string ldap_group_ref{};
};

// Somebody who may log in.
struct user_options {
    std::string name{};
    std::string password{};
    // Accepted by OAUTHBEARER as this user; empty: none is.
    std::string bearer_token{};
    // The short way to give roles, which counts as long as `roles` is not set: empty makes an
    // administrator, otherwise the user may use these buckets by every service.
    std::vector<std::string> buckets{};
    // Whether xattrs that start with an underscore are open to this user.
    bool can_access_system_xattrs = true;
    // What the user may do, beside what groups add. Unset: see `buckets`.
    std::optional<std::vector<role_grant>> roles{};
    // Names of groups; unknown ones give nothing.
    std::vector<std::string> groups{};
    // For people.
    std::string full_name{};
};

enum class bucket_type : std::uint8_t {
    couchbase,  // keeps documents on (pretended) disk
    ephemeral   // memory only: durability levels that persist are refused
};

struct scope_options {
    std::string name{};
    std::vector<std::string> collections{};
};

// What administration calls can change about a bucket.
struct bucket_settings {
    // Whether all documents can be removed at once.
    bool is_flush_enabled = false;
    // Documents live at most so long; 0 s: as long as they say. A collection's limit comes first.
    std::chrono::seconds max_ttl{0};
    // Weaker writes are raised to this level; empty: none is.
    std::optional<wire::durability_level> durability_min{};

    // The rest is kept and shown: nothing here runs out of memory, is stored in files or replicated
    // to another cluster.
    std::uint32_t ram_quota_mb = 100;
    bool has_replica_index = false;
    std::string eviction_policy{};  // empty: what is usual for the type
    std::string compression_mode = "passive";
    std::string conflict_resolution = "seqno";
    std::string storage_backend = "couchstore";
    std::chrono::seconds history_retention{0};
    std::uint64_t history_retention_bytes = 0;
    bool keeps_history = true;  // of collections that do not say
};

struct bucket_options {
    std::string name = "default";
    bucket_type type = bucket_type::couchbase;
    // 0..3; empty: the cluster's.
    std::optional<std::size_t> replica_count{};
    // False: a bucket of an old server, which refuses connections that negotiated collections.
    bool has_collections = true;
    // Beside `_default._default`, which is always there.
    std::vector<scope_options> scopes{};
    bucket_settings settings{};
};

// Everything a cluster starts with. Plain data; two clusters with equal options that are fed equal
// calls give equal bytes.
struct cluster_options {
    // Nodes at the start, 1..256. All of them hold data.
    std::size_t node_count = 4;
    // Copies of a bucket's documents beside the active one, 0..3.
    std::size_t replica_count = 1;
    // Rows of every bucket's map: a power of two, 1..32768.
    std::size_t vbucket_count = 1024;
    std::vector<bucket_options> buckets{};
    std::vector<user_options> users{};
    // Start of all randomness: uuids, nonces, error references, faults with a probability.
    std::uint64_t seed = 1;
    // Name under which nodes are announced until their endpoints are set.
    std::string hostname = "127.0.0.1";
    std::string cluster_name = "sandbox";
    // Rounds of the password hash; strict clients refuse fewer than 4096.
    std::uint32_t scram_iterations = 4096;
    // Offer PLAIN without TLS too, as servers do unless they are set not to.
    bool offers_plain_without_tls = true;
    // The time reported in answers to connections with Tracing.
    std::chrono::microseconds server_duration{8};
    // Lock time used when a request names none, 0, or more than the maximum.
    std::chrono::seconds lock_time_default{15};
    std::chrono::seconds lock_time_max{30};
    // Longest value of a document, inflated. Bytes.
    std::size_t value_size_max_bytes = std::size_t{20} * 1024 * 1024;
    // Connections at once, over all nodes.
    std::size_t connection_count_max = 65'536;
    // Entries the audit log keeps; older ones are dropped, counters go on.
    std::size_t audit_entry_count_max = 65'536;
    // How long replicas take to acknowledge a durable write: so long it is pending. 0: at once.
    std::chrono::nanoseconds replication_delay{0};
    // How long a new active copy takes to re-commit the pending writes it found. 0: at once.
    std::chrono::nanoseconds recommit_delay{0};
    // Announce that statements can be prepared and run in one request, once a node has a query
    // port. False: such requests are refused (1065), as older servers do.
    bool offers_enhanced_prepared = true;
    // What get_error_map answers; empty: the map of all codes this project knows.
    std::optional<wire::error_map> error_map{};
};

// What is wrong with the options, for people; empty if nothing is.
std::optional<std::string> find_problem(const bucket_options& bucket);
std::optional<std::string> find_problem(const cluster_options& options);

}  // namespace reprise::sandbox
