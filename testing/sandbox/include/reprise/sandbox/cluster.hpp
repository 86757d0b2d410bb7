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

#include <reprise/sandbox/audit_log.hpp>
#include <reprise/sandbox/cluster_options.hpp>
#include <reprise/sandbox/connection.hpp>
#include <reprise/sandbox/fault_rule.hpp>
#include <reprise/sandbox/ids.hpp>
#include <reprise/sandbox/node_disturbance.hpp>
#include <reprise/sandbox/rebalance.hpp>
#include <reprise/wire/cluster_configuration_encode.hpp>
#include <reprise/wire/cluster_node.hpp>
#include <reprise/wire/collections_manifest.hpp>
#include <reprise/wire/configuration_revision.hpp>
#include <reprise/wire/error_map.hpp>
#include <reprise/wire/ids.hpp>

namespace reprise::sandbox {

class service_host;

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
    unknown_group,         // no group of that name
    already_exists,        // bucket, scope, collection or user of that name
    name_invalid,          // not a legal name
    node_down,             // the node is down: nothing can be accepted by or moved to it
    last_node,             // the cluster must keep one node
    map_mismatch,          // a forward map with another number of rows, or naming unknown nodes
    too_many_connections,  // cluster_options::connection_count_max is reached
    too_many_nodes,        // cluster::node_count_max is reached
    not_failed_over,       // only a node that was failed over can be added back
    rebalance_running,     // it must end, or be stopped, first
    no_rebalance,          // none is running
    no_replica,            // a vbucket of the node has no other copy on a node that is up
    connections_refused,   // the node takes no new connections on purpose
    nothing_older,         // the node never knew another configuration
    unknown_code,          // not in the error map
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
// collects `take_wakeups()` and calls on_time of each. Only rebalances and graceful failovers take
// steps of their own: one vbucket each, when the caller says so.
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

    // A new connection at a node. Errors: unknown_node, node_down, connections_refused,
    // too_many_connections, unknown_user (of the certificate). The connection points into the
    // cluster, not to this object: the cluster may be moved.
    std::expected<connection, cluster_errc> accept(
        node_id node, const accept_options& options = {});
    std::size_t connection_count() const noexcept;

    bool has_wakeups() const noexcept;
    // Appends the connections whose on_time must be called although nothing came from their peer,
    // each once, and forgets them. Ids of connections destroyed meanwhile are left out.
    void take_wakeups(std::vector<connection_id>& out);

    // Pending durable writes get on with time. Every call of a connection brings the time along, so
    // this is needed only where nothing else happens: call on_time once next_due has come, then
    // look after the wake-ups. Empty: nothing waits for time.
    std::optional<time_point> next_due() const noexcept;
    void on_time(time_point now);

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
    // The node's process ends and starts again, also if it was down: its connections are closed,
    // its locks are gone. With data everything else is as it was. Without, its active vbuckets are
    // empty under a new uuid (their replicas follow, as they would roll back), and its replicas are
    // filled again from their active copies unless replication is held. Error: unknown_node.
    std::expected<void, cluster_errc> restart(node_id node, restart_kind kind);
    // Hard failover: the node leaves the configuration, its active vbuckets go to the first replica
    // on a node that is up, or to nobody. Its connections are closed. A running rebalance is
    // stopped first. Errors: unknown_node, last_node.
    std::expected<void, cluster_errc> failover(node_id node);

    static constexpr std::size_t node_count_max = 256;
    // A node joins: announced at once, but part of no bucket until the next rebalance. Without
    // endpoints it is announced with made-up ports until `set_endpoints`. Errors: too_many_nodes,
    // rebalance_running.
    std::expected<node_id, cluster_errc> add_node(
        std::optional<wire::cluster_node> endpoints = std::nullopt);
    // A failed-over node comes up empty and joins as `add_node` lets one join, with its old
    // endpoints. Errors: unknown_node, not_failed_over, rebalance_running.
    std::expected<void, cluster_errc> add_back(node_id node);
    // Members, those that join and those failed over, by number. Not those that left.
    std::vector<node_overview> overview() const;

    // Nodes that joined become members, a target map of every bucket is made and announced as its
    // fast-forward map. Nothing moves yet; a rebalance with nothing to move still ends by a step.
    // Errors: rebalance_running, unknown_node, last_node, node_down (a member or joining node is).
    std::expected<void, cluster_errc> begin_rebalance(const rebalance_options& options = {});
    // The same to take one node out without loss: each of its active vbuckets goes to its first
    // replica on a node that is up, then the node is failed over. Errors: rebalance_running,
    // unknown_node, last_node, node_down, no_replica.
    std::expected<void, cluster_errc> begin_graceful_failover(node_id node);
    // Moves the next vbucket (data, locks, replicas; new revision), or ends the rebalance if all
    // moves are done: forward maps vanish, who leaves is out. Errors: no_rebalance; node_down if a
    // node that the move needs is down: then the rebalance has failed, and is over as if stopped.
    std::expected<rebalance_step, cluster_errc> step_rebalance();
    // The map stays as far as it came, the forward maps vanish, nobody leaves. Error: no_rebalance.
    std::expected<void, cluster_errc> stop_rebalance();
    rebalance_progress rebalance_status() const;

    // A vbucket's active copy changes its node, data and locks included, as in a step of a
    // rebalance; the old owner keeps a replica if the target had one, otherwise nothing, and
    // answers not_my_vbucket. New revision. Error: rebalance_running, and what the names say.
    std::expected<void, cluster_errc> move_vbucket(
        std::string_view bucket, wire::vbucket_id vbucket, node_id to);
    // The fast-forward map to announce: rows of node numbers, [active, replicas...], -1 for none;
    // no rows clears it. New revision. It moves nothing. Also an error: rebalance_running.
    std::expected<void, cluster_errc> set_forward_map(
        std::string_view bucket, wire::vbucket_rows rows);
    // Which node is active for a vbucket; empty: none, or no such bucket or vbucket.
    std::optional<node_id> active_node(std::string_view bucket, wire::vbucket_id vbucket) const;

    // The row of a vbucket by node number: active, replicas, -1 for none. Empty: no such vbucket.
    std::vector<std::int16_t> copies_of(std::string_view bucket, wire::vbucket_id vbucket) const;

    // While held a node keeps announcing and pushing what it knew; released it catches up.
    std::expected<void, cluster_errc> hold_configuration(node_id node, bool is_held);
    // The node pushes an older configuration of each kind to the connections that subscribed, once,
    // as if it had been under way for long. Errors: unknown_node, nothing_older.
    std::expected<void, cluster_errc> replay_configuration(node_id node);
    // While held replicas do not follow; released they catch up. A failover in between loses what
    // was held, as it would be lost on real servers; durable writes are pending meanwhile.
    void hold_replication(bool is_held);
    // While held the persisted seqno of every vbucket stays where it is; durable writes that must
    // reach a disk are pending.
    void hold_persistence(bool is_held);

    // --- pending durable writes --------------------------------------------------------------
    //
    // A durable write that cannot have its majority (or its disks) at once is prepared, not
    // applied: its answer waits, readers see the document as it was, other changes of the key are
    // answered 0xa2. It is applied when nothing hinders it any more. If its time runs out before
    // that, it is answered 0xa3 and stays pending. A copy that becomes active (failover, move,
    // restart) re-commits what it finds prepared: until that is done changes and reads of the key
    // are answered 0xa4. Prepares reach the replicas at once unless replication is held; one that
    // did not is lost with its node. It is pending while replication is held, while persistence is
    // held (levels that persist), while too few of its copies are on nodes that are up, and during
    // the replication delay.

    // How long replicas take to acknowledge; counts for writes prepared from now on.
    void set_replication_delay(std::chrono::nanoseconds delay);
    // How long a re-commit takes; counts for those that begin from now on.
    void set_recommit_delay(std::chrono::nanoseconds delay);
    // While held no re-commit ends.
    void hold_recommit(bool is_held);
    std::size_t pending_write_count() const noexcept;
    // More are refused with 0x86.
    static constexpr std::size_t pending_write_count_max = 65'536;

    // --- buckets, collections, users ---------------------------------------------------------

    std::vector<std::string> buckets() const;
    // Buckets neither come nor go during a rebalance (rebalance_running).
    std::expected<void, cluster_errc> create_bucket(const bucket_options& bucket);
    // Connections bound to it are closed.
    std::expected<void, cluster_errc> drop_bucket(std::string_view bucket);
    // Null if there is no such bucket; valid until its next change.
    const wire::collections_manifest* manifest(std::string_view bucket) const noexcept;
    // The same as one node knows it (hide_collection); null also for an unknown node.
    const wire::collections_manifest* manifest_at(
        node_id node, std::string_view bucket) const noexcept;
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

    // A drop and a new collection of that name, with another id and the same expiry.
    std::expected<std::uint64_t, cluster_errc> recreate_collection(
        std::string_view bucket, std::string_view scope, std::string_view collection);

    // Counts from now on. Error: unknown_bucket.
    std::expected<void, cluster_errc> set_bucket_settings(
        std::string_view bucket, bucket_settings settings);

    // Adds a user or replaces one of that name. Connections already logged in stay so, with the new
    // roles.
    void put_user(user_options user);
    std::expected<void, cluster_errc> drop_user(std::string_view name);
    std::vector<std::string> users() const;
    const user_options* find_user(std::string_view name) const noexcept;
    // The same for groups; what their roles allow counts at once.
    void put_group(group_options group);
    std::expected<void, cluster_errc> drop_group(std::string_view name);
    std::vector<std::string> groups() const;
    const group_options* find_group(std::string_view name) const noexcept;

    // --- what a node says --------------------------------------------------------------------

    // The configuration JSON as `node` knows it: of a bucket, or the global one for an empty name.
    // Empty if the node does not know such a bucket. With `$HOST`-free host names.
    std::optional<std::string> configuration_text(node_id node, std::string_view bucket) const;
    std::optional<wire::configuration_revision> configuration_revision(
        node_id node, std::string_view bucket) const;
    // Grows with every change any node can announce: HTTP streams compare it.
    std::uint64_t configuration_generation() const noexcept;
    // Grows when a node comes, goes, or takes connections differently: a front compares it and
    // opens or closes its ports.
    std::uint64_t node_generation() const noexcept;

    // --- watching and disturbing -------------------------------------------------------------

    // Down, and abruptly so: its connections are reset (connection::is_aborted). Error:
    // unknown_node.
    std::expected<void, cluster_errc> kill(node_id node);
    // From now on this is the matter with the node; a default one: nothing. Error: unknown_node.
    std::expected<void, cluster_errc> disturb(node_id node, const node_disturbance& how);
    // Nothing is the matter with an unknown node.
    node_disturbance disturbance_of(node_id node) const noexcept;

    // Adds a code to the error map or replaces it; the map's revision grows. A fault_status rule
    // makes nodes answer it. Connections learn of it when they ask for the map next.
    void put_error_code(wire::error_map_entry entry);
    // Error: unknown_code.
    std::expected<void, cluster_errc> drop_error_code(std::uint16_t code);
    const wire::error_map& error_map() const noexcept;
    // node_disturbance::is_error_map_corrupt alone. Error: unknown_node.
    std::expected<void, cluster_errc> set_error_map_corruption(node_id node, bool is_corrupt);

    // While denied, select_bucket is answered 0x24 and HTTP 403 for this user, or for everybody
    // (empty name). Connections bound to the bucket stay so. Errors: unknown_bucket, unknown_user.
    std::expected<void, cluster_errc> deny_bucket(
        std::string_view bucket, std::string_view user, bool is_denied);
    bool is_denied(std::string_view bucket, std::string_view user) const noexcept;
    // Absent closes the node's connections that are bound to the bucket. Errors: unknown_node,
    // unknown_bucket.
    std::expected<void, cluster_errc> set_bucket_presence(
        node_id node, std::string_view bucket, bucket_presence presence);
    // The node is behind: its manifest is one from before the collection, with a lower uid. Of all
    // hidden collections of a bucket on a node the oldest decides the uid. Errors: unknown_node,
    // unknown_bucket, unknown_scope, unknown_collection.
    std::expected<void, cluster_errc> hide_collection(
        node_id node, std::string_view bucket, std::string_view scope, std::string_view collection,
        bool is_hidden);

    fault_list& faults() noexcept;
    audit_log& audit() noexcept;
    const audit_log& audit() const noexcept;
    // Rules, audit and definitions of the HTTP services; see services.hpp. Made when first asked
    // for, lives as long as the cluster.
    service_host& services();

    // The active copy of a document (tombstones too), or the copy a node holds. Empty: none.
    std::optional<document_snapshot> find_document(
        std::string_view bucket, wire::collection_id collection, std::string_view key,
        time_point now, std::optional<node_id> on_node = std::nullopt) const;

private:
    explicit cluster(std::unique_ptr<detail::cluster_state> state) noexcept;

    std::unique_ptr<detail::cluster_state> state_;
};

}  // namespace reprise::sandbox
