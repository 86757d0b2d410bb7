#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/sandbox/account_list.hpp>
#include <reprise/sandbox/audit_log.hpp>
#include <reprise/sandbox/cluster_errc.hpp>
#include <reprise/sandbox/cluster_options.hpp>
#include <reprise/sandbox/connection.hpp>
#include <reprise/sandbox/error_code_list.hpp>
#include <reprise/sandbox/fault_rule.hpp>
#include <reprise/sandbox/ids.hpp>
#include <reprise/sandbox/node_disturbance.hpp>
#include <reprise/sandbox/rebalance.hpp>
#include <reprise/wire/cluster_configuration_encode.hpp>
#include <reprise/wire/cluster_node.hpp>
#include <reprise/wire/collections_manifest.hpp>
#include <reprise/wire/configuration_revision.hpp>
#include <reprise/wire/ids.hpp>

namespace reprise::sandbox {

class service_host;

namespace detail {
struct cluster_state;
}

/// How a connection was made.
struct accept_options {
    wire::transport over = wire::transport::plain;
    /// The peer's address, shown in the audit log.
    std::string peer{};
    /// The user named by a verified client certificate. The connection starts authenticated as this
    /// user and refuses SASL.
    std::string certificate_user{};
};

/// One document in one copy, for checkers and tests.
struct document_snapshot {
    std::string value{};   // uncompressed
    std::string xattrs{};  // a JSON object; empty if there are none
    std::uint32_t flags = 0;
    std::uint32_t expiry = 0;  // seconds since 1970; 0: never
    std::uint64_t cas = 0;
    std::uint64_t seqno = 0;
    std::uint64_t revision = 0;
    bool is_deleted = false;
    bool is_locked = false;
};

/// A whole cluster without sockets: nodes, buckets, users, documents, and the nodes' views of
/// each other. It is not thread-safe: only one thread may use the cluster and its connections at a
/// time. It has no clock and derives all randomness from cluster_options::seed, so the same calls
/// always produce the same bytes.
///
/// Topology changes take effect at once: data moves, the configuration gets a new revision, nodes
/// learn of it (unless held back), and subscribed connections are marked for a push. The caller
/// then calls `take_wakeups()` and calls on_time of each connection it returns. Only rebalances and
/// graceful failovers proceed in steps: each step moves one vbucket, and the caller decides when it
/// happens.
class cluster {
public:
    /// The error explains what is wrong with the options (find_problem).
    static std::expected<cluster, std::string> make(cluster_options options);
    cluster(cluster&&) noexcept;
    cluster& operator=(cluster&&) noexcept;
    /// All connections must be destroyed first (asserted).
    ~cluster();

    const cluster_options& options() const noexcept;

    // --- connections -------------------------------------------------------------------------

    /// Opens a connection to a node. Errors: unknown_node, node_down, connections_refused,
    /// too_many_connections, unknown_user (of the certificate). The connection refers to the
    /// cluster's state, not to this object, so the cluster may be moved.
    std::expected<connection, cluster_errc> accept(
        node_id node, const accept_options& options = {});
    std::size_t connection_count() const noexcept;
    /// Those of one node.
    std::size_t connection_count(node_id node) const noexcept;

    bool has_wakeups() const noexcept;
    /// Appends the connections whose on_time must be called although their peers sent nothing, each
    /// once, and forgets them. Connections destroyed in the meantime are left out.
    void take_wakeups(std::vector<connection_id>& out);

    /// Pending durable writes depend on time. Every call of a connection passes the time, so
    /// on_time is needed only while nothing else happens: call it once next_due is reached, then
    /// process the wake-ups. next_due is empty if nothing waits for a point in time.
    std::optional<time_point> next_due() const noexcept;
    void on_time(time_point now);

    // --- nodes and topology ------------------------------------------------------------------

    /// The nodes of the configuration, in its order.
    std::vector<node_id> nodes() const;
    /// Empty if no node ever had this number.
    std::optional<node_state> state_of(node_id node) const noexcept;
    /// Sets the host and the ports that a node is announced with; the front calls it once its
    /// sockets are bound. A service is announced if its port is not 0. Creates a new revision.
    /// Error: unknown_node.
    std::expected<void, cluster_errc> set_endpoints(node_id node, wire::cluster_node endpoints);
    const wire::cluster_node* endpoints_of(node_id node) const noexcept;

    /// A node that goes down closes its connections and refuses new ones; the configuration does
    /// not change. A node that comes up has the data it had before. Error: unknown_node (also for a
    /// node that was failed over).
    std::expected<void, cluster_errc> set_node_state(node_id node, bool is_up);
    /// Ends the node's process and starts it again, even if the node was down. Its connections are
    /// closed and its locks are lost. With data, everything else is kept. Without data, its active
    /// vbuckets are empty and have new uuids (their replicas follow, as if they rolled back), and
    /// its replicas are filled again from their active copies unless replication is held. The
    /// warm-up starts at the time of the last call that passed one. Error: unknown_node.
    std::expected<void, cluster_errc> restart(
        node_id node, restart_kind kind, const restart_warmup& warmup = {});
    /// Hard failover: the node leaves the configuration and its connections are closed. Each of its
    /// active vbuckets moves to its first replica on a node that is up; without such a replica the
    /// vbucket has no owner. Stops a running rebalance first. Errors: unknown_node, last_node.
    std::expected<void, cluster_errc> failover(node_id node);

    static constexpr std::size_t node_count_max = 256;
    /// Adds a node. It is announced at once, but holds no bucket until the next rebalance. Without
    /// endpoints it is announced with invented ports until `set_endpoints`. Errors: too_many_nodes,
    /// rebalance_running.
    std::expected<node_id, cluster_errc> add_node(
        std::optional<wire::cluster_node> endpoints = std::nullopt);
    /// Starts a failed-over node without data and adds it as `add_node` does, with its old
    /// endpoints. Errors: unknown_node, not_failed_over, rebalance_running.
    std::expected<void, cluster_errc> add_back(node_id node);
    /// All members, joining nodes and failed-over nodes by number, without those that left.
    std::vector<node_overview> overview() const;

    /// Makes joining nodes members, computes a target map for every bucket and announces it as the
    /// fast-forward map. Nothing moves yet. A rebalance that has nothing to move still needs one
    /// step to end. Errors: rebalance_running, unknown_node, last_node, node_down (a member or
    /// joining node is down).
    std::expected<void, cluster_errc> begin_rebalance(const rebalance_options& options = {});
    /// Takes one node out of the cluster without losing data: each of its active vbuckets moves to
    /// its first replica on a node that is up, then the node is failed over. Errors:
    /// rebalance_running, unknown_node, last_node, node_down, no_replica.
    std::expected<void, cluster_errc> begin_graceful_failover(node_id node);
    /// Moves the next vbucket (data, locks, replicas; new revision). Once all moves are done, it
    /// ends the rebalance: it removes the forward maps and the nodes that leave. Errors:
    /// no_rebalance; node_down if the move needs a node that is down, in which case the rebalance
    /// has failed and is over as if it had been stopped.
    std::expected<rebalance_step, cluster_errc> step_rebalance();
    /// Stops the rebalance: the map stays as it is, the forward maps are removed, and no node
    /// leaves. Error: no_rebalance.
    std::expected<void, cluster_errc> stop_rebalance();
    rebalance_progress rebalance_status() const;

    /// Moves the active copy of a vbucket to another node, with data and locks, like a step of a
    /// rebalance. The old owner keeps a replica if the target had one, otherwise nothing, and
    /// answers not_my_vbucket. Creates a new revision. Errors: rebalance_running, and those for
    /// unknown or unsuitable arguments.
    std::expected<void, cluster_errc> move_vbucket(
        std::string_view bucket, wire::vbucket_id vbucket, node_id to);
    /// Sets the fast-forward map to announce: rows of node numbers, [active, replicas...], -1 for
    /// none. No rows: clears it. Creates a new revision, but moves nothing. Errors also include
    /// rebalance_running.
    std::expected<void, cluster_errc> set_forward_map(
        std::string_view bucket, wire::vbucket_rows rows);
    /// The node with the active copy of a vbucket. Empty if there is none, or no such bucket or
    /// vbucket.
    std::optional<node_id> active_node(std::string_view bucket, wire::vbucket_id vbucket) const;

    /// The row of a vbucket in node numbers: active, replicas, -1 for none. Empty: no such vbucket.
    std::vector<std::int16_t> copies_of(std::string_view bucket, wire::vbucket_id vbucket) const;

    /// While held, a node keeps announcing and pushing the configuration it had. Once released, it
    /// catches up.
    std::expected<void, cluster_errc> hold_configuration(node_id node, bool is_held);
    /// Makes the node push an older configuration of each kind once to all subscribed connections,
    /// as if it had been delayed on the network. Errors: unknown_node, nothing_older.
    std::expected<void, cluster_errc> replay_configuration(node_id node);
    /// While held, replicas do not follow; once released, they catch up. A failover in between
    /// loses the held changes, as it would on real servers. Durable writes stay pending while
    /// replication is held.
    void hold_replication(bool is_held);
    /// While held, the persisted seqno of every vbucket does not change, and durable writes that
    /// must be persisted stay pending.
    void hold_persistence(bool is_held);

    // --- pending durable writes --------------------------------------------------------------
    //
    // A durable write that cannot reach its majority (or disk) at once is prepared, but not
    // applied: its answer waits, readers see the old document, and other changes to the key are
    // answered with 0xa2. It is applied once nothing prevents it any more. If it times out first,
    // it is answered with 0xa3 and stays pending. A copy that becomes active (failover, move,
    // restart) re-commits the prepared writes it finds; until then, changes and reads of the key
    // are answered with 0xa4. Prepares reach the replicas at once unless replication is held; a
    // prepare that did not reach one is lost with its node. A write is pending while replication is
    // held, while persistence is held (for levels that persist), while too few of its copies are on
    // nodes that are up, and during the replication delay.

    /// How long replicas take to acknowledge. Applies to writes prepared from now on.
    void set_replication_delay(std::chrono::nanoseconds delay);
    /// How long a re-commit takes. Applies to those that start from now on.
    void set_recommit_delay(std::chrono::nanoseconds delay);
    /// While held, no re-commit finishes.
    void hold_recommit(bool is_held);
    std::size_t pending_write_count() const noexcept;
    /// Further durable writes are refused with 0x86.
    static constexpr std::size_t pending_write_count_max = 65'536;

    // --- buckets, collections, users ---------------------------------------------------------

    std::vector<std::string> buckets() const;
    /// Fails with rebalance_running during a rebalance, as does drop_bucket.
    std::expected<void, cluster_errc> create_bucket(const bucket_options& bucket);
    /// Closes the connections that have selected the bucket.
    std::expected<void, cluster_errc> drop_bucket(std::string_view bucket);
    /// Null if there is no such bucket. Valid until the manifest's next change.
    const wire::collections_manifest* manifest(std::string_view bucket) const noexcept;
    /// The manifest as one node sees it (hide_collection). Also null for an unknown node.
    const wire::collections_manifest* manifest_at(
        node_id node, std::string_view bucket) const noexcept;
    /// All five return the manifest's new uid.
    std::expected<std::uint64_t, cluster_errc> create_scope(
        std::string_view bucket, std::string_view scope);
    std::expected<std::uint64_t, cluster_errc> drop_scope(
        std::string_view bucket, std::string_view scope);
    std::expected<std::uint64_t, cluster_errc> create_collection(
        std::string_view bucket, std::string_view scope, std::string_view collection,
        std::optional<std::int32_t> max_ttl = std::nullopt);
    /// Empty: the bucket's maximum. Applies to documents that are stored from now on.
    std::expected<std::uint64_t, cluster_errc> set_collection_ttl(
        std::string_view bucket, std::string_view scope, std::string_view collection,
        std::optional<std::int32_t> max_ttl);
    std::expected<std::uint64_t, cluster_errc> drop_collection(
        std::string_view bucket, std::string_view scope, std::string_view collection);

    /// Creates the default collection again, empty and with its old id, as a restored manifest
    /// does. Servers offer no other way. Errors: unknown_bucket, already_exists.
    std::expected<std::uint64_t, cluster_errc> restore_default_collection(std::string_view bucket);

    /// Drops the collection and creates one with the same name and expiry, but another id.
    std::expected<std::uint64_t, cluster_errc> recreate_collection(
        std::string_view bucket, std::string_view scope, std::string_view collection);

    /// Takes effect at once. Error: unknown_bucket.
    std::expected<void, cluster_errc> set_bucket_settings(
        std::string_view bucket, bucket_settings settings);

    /// Users and groups.
    account_list& accounts() noexcept;
    const account_list& accounts() const noexcept;

    // --- what a node announces ---------------------------------------------------------------

    /// The configuration JSON as `node` sees it, of a bucket or, for an empty name, the global
    /// one.
    /// `$HOST` is replaced with the host name. Empty if the node does not have the bucket.
    std::optional<std::string> configuration_text(node_id node, std::string_view bucket) const;
    std::optional<wire::configuration_revision> configuration_revision(
        node_id node, std::string_view bucket) const;
    /// Increases with every change that any node can announce. HTTP streams compare it.
    std::uint64_t configuration_generation() const noexcept;
    /// Increases when a node is added, leaves, or starts or stops accepting connections. A front
    /// compares it to know when to open or close ports.
    std::uint64_t node_generation() const noexcept;
    /// Increases when many documents are removed at once, together with a bucket, a collection or a
    /// node, or by a flush. A front compares it to know when to return memory to the system.
    std::uint64_t removal_generation() const noexcept;

    // --- observing and disturbing ------------------------------------------------------------

    /// Takes the node down abruptly: its connections are reset (connection::is_aborted). Error:
    /// unknown_node.
    std::expected<void, cluster_errc> kill(node_id node);
    /// Replaces the node's disturbance; a default-constructed value ends it. Error: unknown_node.
    std::expected<void, cluster_errc> disturb(node_id node, const node_disturbance& how);
    /// Returns the default value (no disturbance) for an unknown node.
    node_disturbance disturbance_of(node_id node) const noexcept;

    /// The contents of the error map.
    error_code_list& error_codes() noexcept;
    /// Sets only node_disturbance::is_error_map_corrupt. Error: unknown_node.
    std::expected<void, cluster_errc> set_error_map_corruption(node_id node, bool is_corrupt);

    /// While denied, select_bucket is answered with 0x24, and HTTP requests with 403, for this user
    /// or, if the name is empty, for all users. Connections that have selected the bucket keep it.
    /// Errors: unknown_bucket, unknown_user.
    std::expected<void, cluster_errc> deny_bucket(
        std::string_view bucket, std::string_view user, bool is_denied);
    bool is_denied(std::string_view bucket, std::string_view user) const noexcept;
    /// `absent` closes the node's connections that have selected the bucket. Errors: unknown_node,
    /// unknown_bucket.
    std::expected<void, cluster_errc> set_bucket_presence(
        node_id node, std::string_view bucket, bucket_presence presence);
    /// Makes the node lag behind: it has a manifest from before the collection was created, with a
    /// lower uid. If several collections of a bucket are hidden on a node, the oldest determines
    /// the uid. Errors: unknown_node, unknown_bucket, unknown_scope, unknown_collection.
    std::expected<void, cluster_errc> hide_collection(
        node_id node, std::string_view bucket, std::string_view scope, std::string_view collection,
        bool is_hidden);

    fault_list& faults() noexcept;
    audit_log& audit() noexcept;
    const audit_log& audit() const noexcept;
    /// Rules, audit and definitions of the HTTP services; see services.hpp. Created on first use;
    /// lives as long as the cluster.
    service_host& services();

    /// The active copy of a document (including tombstones), or the copy on one node. Empty: none.
    std::optional<document_snapshot> find_document(
        std::string_view bucket, wire::collection_id collection, std::string_view key,
        time_point now, std::optional<node_id> on_node = std::nullopt) const;

private:
    explicit cluster(std::unique_ptr<detail::cluster_state> state) noexcept;

    std::unique_ptr<detail::cluster_state> state_;
};

}  // namespace reprise::sandbox
