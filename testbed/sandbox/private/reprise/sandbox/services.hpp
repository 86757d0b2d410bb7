#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <reprise/sandbox/cluster.hpp>
#include <reprise/sandbox/fault_rule.hpp>
#include <reprise/sandbox/management.hpp>
#include <reprise/sandbox/service_audit.hpp>
#include <reprise/wire/cluster_node.hpp>

namespace reprise::sandbox {

namespace detail {
struct service_state;
}

// The HTTP services of a cluster: query, analytics, search, views and management. All of them work
// on the same documents as the key-value ports.

/// The rest of a large body, produced piece by piece while the peer reads. It owns what it needs
/// and does not depend on later changes of the cluster.
class body_source {
public:
    virtual ~body_source() = default;
    /// Appends the next piece, about ten thousand bytes. Returns false if it was the last one; must
    /// not be called again after that.
    virtual bool append_next(std::string& out) = 0;
};

/// An HTTP request to a service port of a node, as a codec delivers it.
struct service_request {
    wire::service service = wire::service::query;
    std::string method = "GET";
    std::string target{};  // path and query, percent-encoded as received
    service_header_list headers{};
    std::string body{};
    /// The user of a verified client certificate. Without one, the Authorization header counts.
    std::string certificate_user{};
};

struct service_response {
    int status = 200;
    /// Content-Type and other headers of the service; the codec adds length and framing.
    service_header_list headers{};
    std::string body{};
    /// If set, `body` is only the beginning, and the response is chunked.
    std::unique_ptr<body_source> more{};
    /// If set, the response stays open; see management_response::continues.
    std::optional<management_response::stream> continues{};
};

/// The result of a request: a response and, if a rule took the request, how to disturb it.
/// service_connection applies both to bytes.
struct service_answer {
    service_response response{};
    std::optional<service_fault_effect> disturbance{};
};

/// Answers one request and records it in the audit, even if a rule disturbs it. Never throws on
/// input. docs/sandbox.md lists paths, statements, queries and roles.
service_answer handle_service(
    cluster& cluster, node_id node, const service_request& request, time_point now);

/// The state of one cluster's services: prepared statements, definitions of indexes and design
/// documents, rules and the audit. Owned by the cluster; see cluster::services().
class service_host {
public:
    explicit service_host(detail::cluster_state& cluster);
    service_host(const service_host&) = delete;
    service_host& operator=(const service_host&) = delete;
    ~service_host();

    service_fault_list& faults() noexcept;
    service_audit_log& audit() noexcept;

    /// Creates a search index over all collections of a bucket, like PUT /api/index/<name>. Errors:
    /// unknown_bucket, already_exists, name_invalid.
    std::expected<void, cluster_errc> create_search_index(
        std::string_view name, std::string_view bucket);
    /// Creates a view, and its design document if there is none. The map function emits (meta.id,
    /// null) for every document of the bucket's default collection. Errors: unknown_bucket,
    /// name_invalid.
    std::expected<void, cluster_errc> put_view(
        std::string_view bucket, std::string_view design, std::string_view view);

    /// Number of prepared statements over all nodes.
    std::size_t prepared_count() const noexcept;
    /// Simulates a restart of the query nodes: executing a prepared statement then fails with 4040
    /// unless the request contains its plan.
    void forget_prepared() noexcept;

    /// For internal use by the library.
    detail::service_state& state() noexcept { return *state_; }

private:
    std::unique_ptr<detail::service_state> state_;
};

}  // namespace reprise::sandbox
