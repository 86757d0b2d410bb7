#pragma once

#include <cstdint>
#include <limits>
#include <string_view>

namespace reprise::sandbox {

// How a node spoils the TLS handshakes of new connections. Without TLS ports: nothing to spoil.
enum class tls_disturbance : std::uint8_t {
    none,
    untrusted,   // a certificate of an authority nobody was told of
    wrong_host,  // a certificate that names another host
    expired,     // a certificate that was valid yesterday
    alert,       // a fatal alert instead of a certificate
    reset        // the connection is reset once the client has begun
};

std::string_view to_string(tls_disturbance kind) noexcept;

// What is the matter with one node, on purpose, until it is taken back. The node is a healthy
// member for the other nodes all the while: the configuration does not change, replication and
// durable writes go on. Each member stands for itself; several may be set.
struct node_disturbance {
    // Accepts and reads, but carries nothing out and says nothing. Afterwards it goes on where it
    // stopped: what came meanwhile is answered then.
    bool is_frozen = false;
    // New connections are refused (cluster::accept gives connections_refused, a front closes its
    // listening sockets); those there are stay.
    bool refuses_connections = false;
    // Nothing goes in or out: connections are silent, a front reads nothing and leaves new ones to
    // the system's queue. Nothing is lost in between, as TCP would have it.
    bool is_partitioned = false;
    // Of new connections. The front's business: the cluster itself knows no TLS.
    tls_disturbance tls = tls_disturbance::none;

    // SASL is answered 0x20, HTTP 401, whatever is sent. Who is logged in stays so.
    bool rejects_credentials = false;
    // The next so many OAUTHBEARER logins are answered 0x1f. `no_limit`: all.
    std::uint64_t stale_login_count = 0;
    static constexpr std::uint64_t no_limit = std::numeric_limits<std::uint64_t>::max();

    // get_error_map is answered with half of the text, which is no JSON.
    bool is_error_map_corrupt = false;
    // So are configurations: asked for, pushed, with not_my_vbucket, over HTTP.
    bool is_configuration_corrupt = false;

    // Nothing goes out.
    bool is_silent() const noexcept { return is_frozen || is_partitioned; }
    friend bool operator==(const node_disturbance&, const node_disturbance&) = default;
};

// What a node has of a bucket, for its clients.
enum class bucket_presence : std::uint8_t {
    full,        // everything the map says
    absent,      // "not here yet": select_bucket answers 0x01, HTTP 404
    config_only  // select_bucket and configurations work, everything else answers 0x0d
};

std::string_view to_string(bucket_presence presence) noexcept;

}  // namespace reprise::sandbox
