#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/sandbox/cluster_errc.hpp>
#include <reprise/sandbox/ids.hpp>
#include <reprise/sandbox/node_disturbance.hpp>
#include <reprise/sandbox/rebalance.hpp>
#include <reprise/wire/cluster_configuration_encode.hpp>
#include <reprise/wire/cluster_node.hpp>
#include <reprise/wire/configuration_revision.hpp>
#include <reprise/wire/ids.hpp>

namespace reprise::sandbox {

namespace detail {
struct cluster_state;
}

/// The nodes of a cluster, the maps of its buckets and what the nodes announce; see
/// cluster::topology().
///
/// Changes take effect at once: data moves, the configuration gets a new revision, nodes learn of
/// it (unless held back), and subscribed connections are marked for a push (cluster::take_wakeups).
/// Only rebalances and graceful failovers proceed in steps: each step moves one vbucket, and the
/// caller decides when it happens.
class cluster_topology {
public:
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
    /// Takes the node down abruptly: its connections are reset (connection::is_aborted). Error:
    /// unknown_node.
    std::expected<void, cluster_errc> kill(node_id node);
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

private:
    friend class cluster;
    explicit cluster_topology(detail::cluster_state& state) noexcept : state_(&state) {}

    detail::cluster_state* state_;
};

}  // namespace reprise::sandbox
