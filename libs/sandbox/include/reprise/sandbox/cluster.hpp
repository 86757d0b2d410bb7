#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/sandbox/audit_log.hpp>
#include <reprise/sandbox/cluster_options.hpp>
#include <reprise/sandbox/connection.hpp>
#include <reprise/sandbox/fault_rule.hpp>
#include <reprise/sandbox/ids.hpp>
#include <reprise/wire/cluster_configuration_encode.hpp>
#include <reprise/wire/cluster_node.hpp>
#include <reprise/wire/collections_manifest.hpp>
#include <reprise/wire/configuration_revision.hpp>
#include <reprise/wire/ids.hpp>

namespace reprise::sandbox {

namespace detail {
struct cluster_state;
}

// Why a call on the cluster changed nothing.
enum class cluster_errc : std::uint8_t {
    unknown_node = 1,      // no such node, or it left the cluster
    unknown_bucket,        // no bucket of that name
    unknown_vbucket,       // past the map
    unknown_scope,         // no scope of that name
    unknown_collection,    // no collection of that name in the scope
    unknown_user,          // no user of that name
    already_exists,        // bucket, scope, collection or user of that name
    name_invalid,          // not a legal name
    node_down,             // the node is down: nothing can be accepted by or moved to it
    last_node,             // the cluster must keep one node
    map_mismatch,          // a forward map with another number of rows, or naming unknown nodes
    too_many_connections,  // cluster_options::connection_count_max is reached
};

std::string_view to_string(cluster_errc code) noexcept;

// How a connection came in.
struct accept_options {
    wire::transport over = wire::transport::plain;
    // The peer's address, for the audit log and for people.
    std::string peer{};
    // The user named by a verified client certificate: logged in from the start, SASL then refused.
    std::string certificate_user{};
};

enum class node_state : std::uint8_t {
    up,          // accepts and answers
    down,        // accepts nothing; its connections were closed; its data is kept
    failed_over  // out of the configuration, its vbuckets were promoted elsewhere; final
};

// What is stored of one document, for checkers and tests.
struct document_snapshot {
    std::string value{};   // inflated
    std::string xattrs{};  // a JSON object, empty if there are none
    std::uint32_t flags = 0;
    std::uint32_t expiry = 0;  // seconds since 1970, 0: never
    std::uint64_t cas = 0;
    std::uint64_t seqno = 0;
    std::uint64_t revision = 0;
    bool is_deleted = false;
    bool is_locked = false;
};

// A whole cluster without sockets: nodes, buckets, users, documents, and what the nodes know of
// each other. One object, driven from one thread at a time (the caller's locks, if any). It keeps
// no clock and draws all randomness from cluster_options::seed, so equal calls give equal bytes.
//
// Changes of the topology happen at once: data moves, the configuration gets a new revision, nodes
// learn of it (unless held back), subscribed connections are marked for a push. The caller then
// collects `take_wakeups()` and calls on_time of each.
class cluster {
public:
    // The error says what is wrong with the options (find_problem).
    static std::expected<cluster, std::string> make(cluster_options options);
    cluster(cluster&&) noexcept;
    cluster& operator=(cluster&&) noexcept;
    // Every connection must have been destroyed before (asserted).
    ~cluster();

    const cluster_options& options() const noexcept;

    // --- connections -------------------------------------------------------------------------

    // A new connection at a node. Errors: unknown_node, node_down, too_many_connections,
    // unknown_user (of the certificate). The connection points into the cluster, not to this
    // object: the cluster may be moved.
    std::expected<connection, cluster_errc> accept(
        node_id node, const accept_options& options = {});
    std::size_t connection_count() const noexcept;

    bool has_wakeups() const noexcept;
    // Appends the connections whose on_time must be called although nothing came from their peer,
    // each once, and forgets them. Ids of connections destroyed meanwhile are left out.
    void take_wakeups(std::vector<connection_id>& out);

    // --- nodes and topology ------------------------------------------------------------------

    // Nodes of the configuration, in its order.
    std::vector<node_id> nodes() const;
    // Empty for a number that was never given.
    std::optional<node_state> state_of(node_id node) const noexcept;
    // Host and ports a node is announced with; the front sets them once its sockets are bound. A
    // service is announced if its port is not 0. New revision. Error: unknown_node.
    std::expected<void, cluster_errc> set_endpoints(node_id node, wire::cluster_node endpoints);
    const wire::cluster_node* endpoints_of(node_id node) const noexcept;

    // Down closes the node's connections and refuses new ones; the configuration does not change.
    // Up brings it back with the data it had. Errors: unknown_node (also failed over).
    std::expected<void, cluster_errc> set_node_state(node_id node, bool is_up);
    // Hard failover: the node leaves the configuration, its active vbuckets go to the first replica
    // on a node that is up, or to nobody. Its connections are closed. Errors: unknown_node,
    // last_node.
    std::expected<void, cluster_errc> failover(node_id node);
    // A vbucket's active copy changes its node, data included; the old owner keeps a replica if the
    // target had one, otherwise nothing, and answers not_my_vbucket. New revision.
    std::expected<void, cluster_errc> move_vbucket(
        std::string_view bucket, wire::vbucket_id vbucket, node_id to);
    // The fast-forward map to announce: rows of node numbers, [active, replicas...], -1 for none;
    // no rows clears it. New revision. It moves nothing.
    std::expected<void, cluster_errc> set_forward_map(
        std::string_view bucket, wire::vbucket_rows rows);
    // Which node is active for a vbucket; empty: none, or no such bucket or vbucket.
    std::optional<node_id> active_node(std::string_view bucket, wire::vbucket_id vbucket) const;

    // The row of a vbucket by node number: active, replicas, -1 for none. Empty: no such vbucket.
    std::vector<std::int16_t> copies_of(std::string_view bucket, wire::vbucket_id vbucket) const;

    // While held a node keeps announcing and pushing what it knew; released it catches up.
    std::expected<void, cluster_errc> hold_configuration(node_id node, bool is_held);
    // While held replicas do not follow; released they catch up. A failover in between loses what
    // was held, as it would be lost on real servers. Durable writes are not held back: they take
    // along what waits in their vbucket.
    void hold_replication(bool is_held);
    // While held the persisted seqno of every vbucket stays where it is.
    void hold_persistence(bool is_held);

    // --- buckets, collections, users ---------------------------------------------------------

    std::vector<std::string> buckets() const;
    std::expected<void, cluster_errc> create_bucket(const bucket_options& bucket);
    // Connections bound to it are closed.
    std::expected<void, cluster_errc> drop_bucket(std::string_view bucket);
    // Null if there is no such bucket; valid until its next change.
    const wire::collections_manifest* manifest(std::string_view bucket) const noexcept;
    // All four give the manifest's new uid.
    std::expected<std::uint64_t, cluster_errc> create_scope(
        std::string_view bucket, std::string_view scope);
    std::expected<std::uint64_t, cluster_errc> drop_scope(
        std::string_view bucket, std::string_view scope);
    std::expected<std::uint64_t, cluster_errc> create_collection(
        std::string_view bucket, std::string_view scope, std::string_view collection,
        std::optional<std::int32_t> max_ttl = std::nullopt);
    std::expected<std::uint64_t, cluster_errc> drop_collection(
        std::string_view bucket, std::string_view scope, std::string_view collection);

    // Adds a user or replaces one of that name. Connections already logged in stay so.
    void put_user(user_options user);
    std::expected<void, cluster_errc> drop_user(std::string_view name);
    std::vector<std::string> users() const;
    const user_options* find_user(std::string_view name) const noexcept;

    // --- what a node says --------------------------------------------------------------------

    // The configuration JSON as `node` knows it: of a bucket, or the global one for an empty name.
    // Empty if the node does not know such a bucket. With `$HOST`-free host names.
    std::optional<std::string> configuration_text(node_id node, std::string_view bucket) const;
    std::optional<wire::configuration_revision> configuration_revision(
        node_id node, std::string_view bucket) const;
    // Grows with every change any node can announce: HTTP streams compare it.
    std::uint64_t configuration_generation() const noexcept;

    // --- watching and disturbing -------------------------------------------------------------

    fault_list& faults() noexcept;
    audit_log& audit() noexcept;
    const audit_log& audit() const noexcept;

    // The active copy of a document (tombstones too), or the copy a node holds. Empty: none.
    std::optional<document_snapshot> find_document(
        std::string_view bucket, wire::collection_id collection, std::string_view key,
        time_point now, std::optional<node_id> on_node = std::nullopt) const;

private:
    explicit cluster(std::unique_ptr<detail::cluster_state> state) noexcept;

    std::unique_ptr<detail::cluster_state> state_;
};

}  // namespace reprise::sandbox
