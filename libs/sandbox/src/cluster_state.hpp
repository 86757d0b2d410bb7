#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <reprise/sandbox/cluster.hpp>
#include <reprise/wire/cluster_configuration_encode.hpp>
#include <reprise/wire/collections_manifest.hpp>
#include <reprise/wire/scram.hpp>

#include "configuration_publisher.hpp"
#include "vbucket.hpp"

namespace reprise::sandbox::detail {

class session;

// What is the same for all nodes about a bucket.
struct bucket_record {
    bucket_options options;
    std::string uuid;  // 32 hexadecimal digits
    std::size_t replica_count = 0;
    wire::collections_manifest manifest;
    // Collections that exist, by id, with the seconds their documents live at most (0: for ever).
    std::unordered_map<std::uint32_t, std::uint32_t> collections;
    std::uint32_t collection_id_next = 8;
    std::uint32_t scope_id_next = 8;
    // [active, replicas...] by node number, -1: none.
    wire::vbucket_rows rows;
    wire::vbucket_rows forward_rows;
    // The newest configuration; nodes that are held back know an older one.
    configuration_description_ptr published;
};

// What one node holds of one bucket.
struct node_bucket {
    // By vbucket; null: not here.
    std::vector<std::unique_ptr<vbucket>> vbuckets;
    known_configuration configuration;
};

struct node_record {
    node_id id;
    node_state state = node_state::up;
    wire::cluster_node endpoints;
    bool is_configuration_held = false;
    std::map<std::string, node_bucket, std::less<>> buckets;
    known_configuration global_configuration;
};

// A user, and what logging in needs of the password; made on first use, since it is slow.
struct user_record {
    user_options options;
    std::map<wire::sasl_mechanism, wire::scram_credential> scram;
};

// Who is logged in on a connection.
struct identity {
    std::string name;
    std::vector<std::string> buckets;  // empty: all
    bool can_access_system_xattrs = true;

    bool can_see(std::string_view bucket) const noexcept;
};

// Everything a cluster is. Owned by `cluster`, pointed to by its sessions.
struct cluster_state {
    explicit cluster_state(cluster_options given);

    cluster_options options;
    // Numbers for uuids, nonces and references. Faults have their own generator, so that adding a
    // rule does not change the others.
    std::mt19937_64 rng;
    fault_list faults;
    audit_log audit;
    std::vector<std::unique_ptr<node_record>> nodes;  // by node number
    std::map<std::string, std::unique_ptr<bucket_record>, std::less<>> buckets;
    std::map<std::string, user_record, std::less<>> users;
    std::string cluster_uuid;
    std::string scram_secret;
    std::string error_map_text[2];  // versions 1 and 2
    // The framing extras of answers to connections with Tracing: always the same.
    std::vector<std::byte> server_duration_field;
    std::int64_t revision = 0;
    configuration_description_ptr published;  // the global configuration
    std::uint64_t generation = 0;
    bool is_replication_held = false;
    bool is_persistence_held = false;

    std::map<std::uint64_t, session*> sessions;  // by connection number, for order
    std::uint64_t connection_id_next = 1;
    std::vector<connection_id> wakeups;

    node_record* find_node(node_id id) noexcept;  // null: unknown or failed over
    bucket_record* find_bucket(std::string_view name) noexcept;
    const bucket_record* find_bucket(std::string_view name) const noexcept;
    node_bucket* find_local(node_record& node, std::string_view bucket) noexcept;
    bool is_up(std::int16_t node) const noexcept;

    // So many lower-case hexadecimal digits from the generator.
    std::string random_hex(std::size_t digit_count);
    // An id as it stands in the `ref` of an error body.
    std::string random_reference();
    std::uint64_t random_uuid() { return rng() >> 16; }

    const wire::scram_credential& credential_of(user_record& user, wire::sasl_mechanism mechanism);

    // Adds the bucket's map and data to all nodes. The name must be free.
    void add_bucket(const bucket_options& bucket);
    // The copy of a vbucket on a node; null: none.
    vbucket* find_copy(std::int16_t node, std::string_view bucket, std::size_t number) noexcept;
    // Passes a change of the active copy on to the replicas and to disk, unless that is held. A
    // durable write is not held: it reaches them at once, with all that came before it in its
    // vbucket, since copies take over changes in order.
    void after_change(
        const bucket_record& bucket, std::size_t number, vbucket& active, const key_view& key,
        const document& content, bool is_durable = false);
    // Brings every replica on nodes that are up to the state of its active copy.
    void catch_up_replicas();
    // A new revision of a bucket's configuration, or of all and the global one.
    void publish(bucket_record& bucket);
    void publish_all();
    // Tells the nodes that are not held back what is published, and their connections.
    void announce();
    // Closes the connections of a node, or those bound to a bucket.
    void close_sessions(const node_record& node);
    void close_sessions(std::string_view bucket);
    void wake(session& which);
};

}  // namespace reprise::sandbox::detail
