#pragma once

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
#include <reprise/sandbox/bucket_list.hpp>
#include <reprise/sandbox/cluster_errc.hpp>
#include <reprise/sandbox/cluster_options.hpp>
#include <reprise/sandbox/cluster_topology.hpp>
#include <reprise/sandbox/connection.hpp>
#include <reprise/sandbox/durability_control.hpp>
#include <reprise/sandbox/error_code_list.hpp>
#include <reprise/sandbox/fault_rule.hpp>
#include <reprise/sandbox/ids.hpp>
#include <reprise/sandbox/node_disturbances.hpp>
#include <reprise/wire/cluster_node.hpp>

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

/// A whole cluster without sockets: nodes, buckets, users, documents, and the nodes' views of
/// each other. It is not thread-safe: only one thread may use the cluster and its connections at a
/// time. It has no clock and derives all randomness from cluster_options::seed, so the same calls
/// always produce the same bytes.
///
/// After a change of any part, the caller calls `take_wakeups()` and then on_time of each
/// connection it returns.
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

    // --- parts -------------------------------------------------------------------------------
    //
    // Each lives as long as the cluster, and refers to the cluster's state, not to this object.

    cluster_topology& topology() noexcept { return topology_; }
    const cluster_topology& topology() const noexcept { return topology_; }
    bucket_list& buckets() noexcept { return buckets_; }
    const bucket_list& buckets() const noexcept { return buckets_; }
    durability_control& durability() noexcept { return durability_; }
    const durability_control& durability() const noexcept { return durability_; }
    node_disturbances& disturbances() noexcept { return disturbances_; }
    const node_disturbances& disturbances() const noexcept { return disturbances_; }
    /// Users and groups.
    account_list& accounts() noexcept;
    const account_list& accounts() const noexcept;
    /// The contents of the error map.
    error_code_list& error_codes() noexcept;
    fault_list& faults() noexcept;
    audit_log& audit() noexcept;
    const audit_log& audit() const noexcept;
    /// Rules, audit and definitions of the HTTP services; see services.hpp. Created on first use.
    service_host& services();

private:
    explicit cluster(std::unique_ptr<detail::cluster_state> state) noexcept;

    std::unique_ptr<detail::cluster_state> state_;
    cluster_topology topology_;
    bucket_list buckets_;
    durability_control durability_;
    node_disturbances disturbances_;
};

}  // namespace reprise::sandbox
