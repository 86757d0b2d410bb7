#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/sandbox/cluster_options.hpp>
#include <reprise/sandbox_net/certificates.hpp>
#include <reprise/wire/service.hpp>

namespace reprise::sandbox {

struct server_tls_options {
    /// False: no TLS ports at all.
    bool is_enabled = false;
    /// Path for the authority's certificate (PEM). Empty: a temporary file. The file is removed
    /// when the server stops.
    std::string ca_path{};
    certificate_fault fault = certificate_fault::none;
    /// Ask clients for a certificate of the same authority and log in the user in its common name.
    /// Clients without a certificate are still served.
    bool takes_client_certificates = false;
};

/// How a cluster is exposed on sockets. Everything listens on 127.0.0.1.
struct server_options {
    cluster_options cluster;
    /// 0: the system chooses every port. Otherwise node i uses n ports from port + n * i on, where
    /// n is 4 plus 2 for each of `services`: key-value, key-value over TLS, management, management
    /// over TLS, then the services. The control port follows the last node (port + n * node_count),
    /// and the ports of nodes that are added later follow the control port.
    std::uint16_t port = 0;
    server_tls_options tls{};
    /// The HTTP services that every node offers in addition to management, on their own ports: any
    /// of views, query, search, analytics; all of them by default. Only these are announced,
    /// because clients wait for every announced service. With fixed ports each service takes two
    /// more ports of a node, plain and TLS, after those of management and in this order.
    std::vector<wire::service> services = wire::list_services(wire::is_optional_service);
    /// A connection with more unsent bytes than this is closed. Bytes. The default exceeds what the
    /// cluster produces for a peer that reads, since it holds requests back from 32 MiB on.
    std::size_t output_size_max_bytes = std::size_t{96} * 1024 * 1024;
    /// A connection that is held back and accepts no byte for this long is closed.
    std::chrono::milliseconds output_stall_max{30'000};
    /// Largest body of a request to the management, service and control ports. Bytes.
    std::size_t http_body_size_max_bytes = std::size_t{1024} * 1024;
    /// A page for people, which the control port serves at `/console?token=...`; it sends commands
    /// with the same token. Empty: there is no page.
    std::string console_page{};
    /// Called with one line about each problem with a connection or a listener, on the server's
    /// thread. Empty: problems are not reported.
    std::function<void(std::string_view)> on_notice{};
};

}  // namespace reprise::sandbox
