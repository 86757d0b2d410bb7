#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <reprise/retry/random_generator.hpp>
#include <reprise/sandbox/cluster.hpp>
#include <reprise/wire/cluster_configuration_encode.hpp>
#include <reprise/wire/collections_manifest.hpp>
#include <reprise/wire/scram.hpp>

#include "key_value/pending_write.hpp"
#include "key_value/vbucket.hpp"
#include "management/roles.hpp"
#include "topology/configuration_publisher.hpp"
#include "topology/rebalance_plan.hpp"

namespace reprise::sandbox::detail {

class session;

// The first version whose configurations have the cluster's name and uuid.
inline constexpr std::string_view version_shown = "7.6.4-sandbox";

// The state of a bucket that all nodes share.
struct bucket_record {
    bucket_options options;
    std::string uuid;  // 32 hexadecimal digits
    std::size_t replica_count = 0;
    wire::collections_manifest manifest;
    // The existing collections by id, each with the longest lifetime of its documents in seconds
    // (0: the bucket's, -1: unlimited).
    std::unordered_map<std::uint32_t, std::int32_t> collections;
    // The manifest uid that created each of them.
    std::unordered_map<std::uint32_t, std::uint64_t> created_uids;
    // The users who may not select it. An empty name stands for all users.
    std::set<std::string, std::less<>> denied_users;
    std::uint32_t collection_id_next = 8;
    std::uint32_t scope_id_next = 8;
    // [active, replicas...] in node numbers, -1: none.
    wire::vbucket_rows rows;
    wire::vbucket_rows forward_rows;
    // The newest configuration. Nodes that are held back have an older one.
    configuration_description_ptr published;

    // The absolute expiry for a request's field, limited by the collection's maximum.
    std::uint32_t absolute_expiry(
        std::uint32_t collection, std::uint32_t field, time_point now) const noexcept;
    bool is_denied(std::string_view user) const noexcept {
        return !denied_users.empty() && (denied_users.contains("") || denied_users.contains(user));
    }
};

// The collection names that an outdated node has for a bucket.
struct older_names {
    std::set<std::uint32_t> hidden;  // collections it does not have
    wire::collections_manifest manifest;

    // Call it after either of them changes.
    void rebuild(const bucket_record& bucket);
};

// The part of a bucket that one node holds.
struct node_bucket {
    // Indexed by vbucket; null: not on this node.
    std::vector<std::unique_ptr<vbucket>> vbuckets;
    known_configuration configuration;
    bucket_presence presence = bucket_presence::full;
    std::unique_ptr<older_names> names;  // null: same as the bucket's

    bool knows(const bucket_record& bucket, std::uint32_t collection) const noexcept {
        return bucket.collections.contains(collection) &&
               (names == nullptr || !names->hidden.contains(collection));
    }
    const wire::collections_manifest& manifest(const bucket_record& bucket) const noexcept {
        return names == nullptr ? bucket.manifest : names->manifest;
    }
};

struct node_record {
    node_id id;
    node_state state = node_state::up;
    // Announced, but part of no bucket before the next rebalance.
    bool is_joining = false;
    wire::cluster_node endpoints;
    bool is_configuration_held = false;
    node_disturbance disturbance;
    std::map<std::string, node_bucket, std::less<>> buckets;
    known_configuration global_configuration;
    // After a restart: see restart_warmup.
    time_point silent_until{};
    time_point absent_until{};

    // Whether the node is part of the configuration.
    bool is_configured() const noexcept {
        return state == node_state::up || state == node_state::down;
    }
    // Whether the node may hold vbuckets.
    bool is_member() const noexcept { return is_configured() && !is_joining; }
};

// The user that a connection is authenticated as.
struct identity {
    std::string name;
    detail::rights rights;
    bool can_access_system_xattrs = true;
    // The cluster's generation when `rights` were read. If it differs, they are out of date.
    std::uint64_t rights_generation = 0;
};

// 32 hexadecimal digits, divided as in a UUID.
std::string with_dashes(std::string digits);

// The state of a cluster. `cluster` owns it; sessions point to it.
struct cluster_state {
    explicit cluster_state(cluster_options given);

    cluster_options options;
    // Generates uuids, nonces and references. Faults have their own generator, so that adding a
    // rule does not change these numbers.
    random_generator random;
    fault_list faults;
    audit_log audit;
    std::vector<std::unique_ptr<node_record>> nodes;  // by node number
    std::map<std::string, std::unique_ptr<bucket_record>, std::less<>> buckets;
    account_list accounts;
    std::string cluster_uuid;
    std::string scram_secret;
    error_code_list error_codes;
    // The framing extras of answers to connections that negotiated Tracing. They never change.
    std::vector<std::byte> server_duration_field;
    std::uint64_t revision = 0;
    configuration_description_ptr published;  // the global configuration
    std::uint64_t generation = 0;
    std::uint64_t node_generation = 0;
    std::uint64_t removal_generation = 0;
    std::optional<rebalance_plan> rebalance;  // the one that is running
    rebalance_progress rebalance_last;        // how the previous one ended
    bool is_replication_held = false;
    bool is_persistence_held = false;
    bool is_recommit_held = false;
    std::vector<pending_write> pending;
    std::uint64_t pending_id_next = 1;
    // When a pending write can make progress because of time alone.
    time_point pending_due = time_point::max();
    // The latest time passed to any call, for changes that do not have a time.
    time_point time_seen{};

    std::shared_ptr<service_host> services;  // null until first use

    std::map<std::uint64_t, session*> sessions;  // by connection number, to keep the order
                                                 // deterministic
    std::uint64_t connection_id_next = 1;
    std::vector<connection_id> wakeups;

    node_record* find_node(node_id id) noexcept;  // null: unknown, failed over or left
    bucket_record* find_bucket(std::string_view name) noexcept;
    const bucket_record* find_bucket(std::string_view name) const noexcept;
    node_bucket* find_local(node_record& node, std::string_view bucket) noexcept;
    // The bucket as clients see it: also null if the bucket is absent on the node.
    node_bucket* find_present(node_record& node, std::string_view bucket) noexcept;
    bool is_up(std::int16_t node) const noexcept;

    // Returns this many random lower-case hexadecimal digits.
    std::string random_hex(std::size_t digit_count);
    // An id as used in the `ref` of an error body.
    std::string random_reference();
    std::uint64_t random_uuid() { return random.next() >> 16; }

    identity identity_of(const user_options& user) const;
    const wire::scram_credential& credential_of(
        account_list::account& user, wire::sasl_mechanism mechanism);

    // Adds a node with the next number and invented endpoints. The next publish_all announces it.
    node_record& add_node();
    // Adds the bucket's map and data to all nodes. The name must not be in use.
    void add_bucket(const bucket_options& bucket);
    // The copy of a vbucket on a node; null: none.
    vbucket* find_copy(std::int16_t node, std::string_view bucket, std::size_t number) noexcept;
    // Propagates a change of the active copy to the replicas and to disk, unless that is held.
    void after_change(
        const bucket_record& bucket, std::size_t number, vbucket& active, const key_view& key,
        const document& content);

    // --- pending durable writes (pending_write.cpp) --------------------------------------------

    // Whether a durable write of this level must wait now.
    bool must_wait(const bucket_record& bucket, wire::durability_level level) const noexcept;
    // The number of copies of a vbucket that acknowledge durable writes.
    std::size_t copies_up(const bucket_record& bucket, std::size_t number) const noexcept;
    // Records a write that `in`, the active copy, has prepared, and propagates it to the replicas.
    // Returns its id.
    std::uint64_t add_pending(
        const bucket_record& bucket, std::size_t number, const key_view& key,
        const prepared_write& prepared, const wire::durability_requirement& wanted);
    // Applies, answers and removes the pending writes that no longer need to wait.
    void settle_pending(time_point now);
    // Every external call that passes the time goes through here.
    void on_time(time_point now) {
        time_seen = now;
        if (now >= pending_due) {
            settle_pending(now);
        }
    }

    // Brings every replica on a node that is up to the state of its active copy.
    void catch_up_replicas();
    // Creates a new revision of a bucket's configuration, or of all buckets and the global one.
    void publish(bucket_record& bucket);
    void publish_all();
    // Gives what is published to the nodes that are not held back, and to their connections.
    void announce();
    // Closes the connections of a node, or those that have selected a bucket.
    void close_sessions(const node_record& node);
    void close_sessions(std::string_view bucket);
    void wake(session& which);
};

}  // namespace reprise::sandbox::detail
