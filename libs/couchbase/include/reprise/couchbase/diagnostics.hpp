#pragma once

/// The reports of cluster::diagnostics, a snapshot made without any I/O, and of cluster::ping,
/// which asks the services.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/couchbase/detail/calls.hpp>
#include <reprise/couchbase/error.hpp>
#include <reprise/couchbase/options.hpp>
#include <reprise/retry/time.hpp>

namespace reprise::couchbase {

/// Figures of a running client: a snapshot.
struct cluster_statistics {
    std::size_t operations_open = 0;     ///< Started and not yet completed.
    std::size_t operations_parked = 0;   ///< Waiting for a retry, a connection or a name.
    std::size_t operations_on_wire = 0;  ///< Sent and not yet answered.
    std::size_t connections_open = 0;    ///< Ready for operations.
    std::uint64_t retries = 0;           ///< Retries scheduled since the start.
    std::uint64_t orphans = 0;           ///< Answers that arrived after their operation had ended.
};

/// The state of one connection.
enum class endpoint_state : std::uint8_t {
    disconnected,   ///< Needed but missing; the client reconnects by itself.
    connecting,     ///< TCP, TLS or the login is in progress.
    connected,      ///< Operations can use it.
    disconnecting,  ///< The cluster no longer names the node; the connection ends with its last
                    ///< answer.
};

/// One connection, or a connection that is missing.
struct endpoint_report {
    service_kind service = service_kind::key_value;
    endpoint_state state = endpoint_state::disconnected;
    /// "client/connection" in hexadecimal, as servers write it in their logs. Empty while
    /// disconnected.
    std::string id{};
    std::string remote{};  ///< "host:port", as the cluster names it.
    std::string local{};   ///< "address:port"; empty unless connected.
    /// The bucket of a key-value connection; empty for connections to the cluster itself.
    std::string bucket{};
    /// Time since the connection was made or bytes last arrived. Absent before that.
    std::optional<duration> last_activity{};
    /// Why the connection is missing or cannot be used yet, for example "connection refused". Empty
    /// if no problem is known.
    std::string problem{};
};

/// The state of all connections together.
enum class cluster_state : std::uint8_t {
    online,    ///< All needed connections are open.
    degraded,  ///< Some needed connections are open.
    offline,   ///< No connection is open.
};

/// The state of a client and all its connections.
struct diagnostics_report {
    std::string id{};  ///< The client's part of endpoint_report::id.
    cluster_state state = cluster_state::offline;
    /// Key-value connections come first. HTTP connections are listed while they are in use and for
    /// a second afterwards. A service that could not be reached last time is listed as
    /// disconnected.
    std::vector<endpoint_report> endpoints{};
};

/// Options of cluster::ping and bucket::ping.
struct ping_options {
    /// For all services together. Absent: 2 s.
    std::optional<duration> timeout{};
    /// The services that are asked; empty: all.
    std::vector<service_kind> services{};
    std::shared_ptr<driver::retry_strategy> strategy{};
    std::shared_ptr<const std::any> user_data{};
    driver::borrowed_pointer<driver::retry_allowance> outer_allowance{};
};
static_assert(operation_options<ping_options>);

/// A node's answer to a ping.
enum class ping_state : std::uint8_t {
    ok,
    not_offered,  ///< No node has the service.
    timeout,
    error,
};

/// One node of a service that was asked.
struct service_ping {
    service_kind service = service_kind::key_value;
    ping_state state = ping_state::ok;
    /// "host:port", as the cluster names it. Empty if no node offers the service, or if its nodes
    /// are not known.
    std::string remote{};
    /// From the call to the answer, with the time to connect and all retries.
    duration latency{};
    /// Set unless the node answered.
    std::optional<error> failure{};
};

/// An entry for each node of each service, in the order of service_kind; one entry for a service
/// that no node offers, or whose nodes are not known.
struct ping_report {
    std::vector<service_ping> services{};
    /// Whether every node has answered for every service that it offers.
    [[nodiscard]] bool is_well() const noexcept;
};

/// Returns the enumerator's name.
[[nodiscard]] std::string_view to_string(ping_state state) noexcept;

/// Returns "kv", "mgmt", "query", "analytics", "search" or "views", as all SDKs write them in
/// reports.
[[nodiscard]] std::string_view to_string(service_kind service) noexcept;
/// Returns the enumerator's name.
[[nodiscard]] std::string_view to_string(endpoint_state state) noexcept;
/// Returns the enumerator's name.
[[nodiscard]] std::string_view to_string(cluster_state state) noexcept;

/// Sums up a list of endpoints. Endpoints that are disconnecting do not count.
[[nodiscard]] cluster_state state_of(const std::vector<endpoint_report>& endpoints) noexcept;

/// Returns the report as JSON in the format of the SDKs (version 2), for tools that read theirs:
/// endpoints by service, `last_activity_us`, the bucket as `namespace`, the problem as `details`.
[[nodiscard]] std::string to_json(const diagnostics_report& report);

namespace detail {

// Asynchronous starts, as `initiate` takes them.
struct statistics_start {
    std::shared_ptr<session> client;
    void operator()(
        const result_receiver<cluster_statistics>& receiver, const step_cancellation&) const;
};
struct diagnostics_start {
    std::shared_ptr<session> client;
    void operator()(
        const result_receiver<diagnostics_report>& receiver, const step_cancellation&) const;
};
struct ping_start {
    std::shared_ptr<session> client;
    std::string bucket;  // empty: the cluster itself
    ping_options options;
    void operator()(
        const result_receiver<ping_report>& receiver, const step_cancellation& cancellation) const;
};

}  // namespace detail

}  // namespace reprise::couchbase
