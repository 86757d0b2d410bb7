#pragma once

#include <cstdint>
#include <limits>
#include <string_view>

namespace reprise::sandbox {

/// How a node breaks the TLS handshakes of new connections. Has no effect without TLS ports.
enum class tls_disturbance : std::uint8_t {
    none,
    untrusted,   // a certificate of an unknown authority
    wrong_host,  // a certificate that names another host
    expired,     // a certificate that expired yesterday
    alert,       // a fatal alert instead of a certificate
    reset        // the connection is reset once the client starts the handshake
};

std::string_view to_string(tls_disturbance kind) noexcept;

/// Deliberate disturbances of one node, which last until they are removed. The other nodes still
/// treat the node as a healthy member: the configuration does not change, and replication and
/// durable writes continue. The members are independent; several may be set.
struct node_disturbance {
    /// The node accepts connections and reads, but processes and sends nothing. Afterwards it
    /// continues where it stopped and answers what it received in between.
    bool is_frozen = false;
    /// The node refuses new connections (cluster::accept fails with connections_refused, a front
    /// closes its listening sockets). Existing connections stay.
    bool refuses_connections = false;
    /// Nothing goes in or out: connections are silent, and a front reads nothing and leaves new
    /// connections in the system's queue. As with TCP, nothing is lost in between.
    bool is_partitioned = false;
    /// Applies to new connections. The front implements it, because the cluster itself has no TLS.
    tls_disturbance tls = tls_disturbance::none;

    /// SASL is answered with 0x20 and HTTP with 401, whatever the credentials. Authenticated
    /// connections stay so.
    bool rejects_credentials = false;
    /// This many of the next OAUTHBEARER logins are answered with 0x1f. `no_limit`: all.
    std::uint64_t stale_login_count = 0;
    static constexpr std::uint64_t no_limit = std::numeric_limits<std::uint64_t>::max();

    /// get_error_map returns only half of the text, which is not valid JSON.
    bool is_error_map_corrupt = false;
    /// Configurations are cut in the same way: requested, pushed, with not_my_vbucket, and over
    /// HTTP.
    bool is_configuration_corrupt = false;

    /// Whether nothing is sent.
    bool is_silent() const noexcept { return is_frozen || is_partitioned; }
    friend bool operator==(const node_disturbance&, const node_disturbance&) = default;
};

/// How much of a bucket a node offers to its clients.
enum class bucket_presence : std::uint8_t {
    full,        // everything in the map
    absent,      // "not here yet": select_bucket answers 0x01, HTTP 404
    config_only  // select_bucket and configurations work, everything else answers 0x0d
};

std::string_view to_string(bucket_presence presence) noexcept;

}  // namespace reprise::sandbox
