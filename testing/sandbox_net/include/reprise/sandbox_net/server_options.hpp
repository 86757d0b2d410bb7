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
    // Off: no TLS ports at all.
    bool is_enabled = false;
    // Where the authority's certificate is written (PEM). Empty: a temporary file. Either is
    // removed when the server stops.
    std::string ca_path{};
    certificate_fault fault = certificate_fault::none;
    // Ask clients for a certificate of the same authority and log its common name in; clients
    // without one are still served.
    bool takes_client_certificates = false;
};

// How a cluster is put on sockets. Everything listens on 127.0.0.1.
struct server_options {
    cluster_options cluster;
    // 0: the system chooses every port. Otherwise node i uses n ports from port + n * i on, where n
    // is 4 and 2 for each of `services`: key-value, key-value over TLS, management, management over
    // TLS, then the services. The control address comes after the last node (port + n *
    // node_count), and nodes that are added later go on behind it.
    std::uint16_t port = 0;
    server_tls_options tls{};
    // HTTP services that every node offers beside management, on ports of their own: any of views,
    // query, search, analytics; all of them unless it is said otherwise. Only those are announced,
    // since clients wait for every announced one. With fixed ports each takes two more of a node's
    // ports, plain and TLS, behind those of management and in this order.
    std::vector<wire::service> services = wire::list_services(wire::is_optional_service);
    // A connection with more unsent bytes than this is closed. Bytes. The default is more than the
    // cluster produces for a peer that reads: it holds requests back from 32 MiB on.
    std::size_t output_size_max_bytes = std::size_t{96} * 1024 * 1024;
    // A connection that is held back and takes no byte for so long is closed.
    std::chrono::milliseconds output_stall_max{30'000};
    // Body of a request to the management, service and control ports. Bytes.
    std::size_t http_body_size_max_bytes = std::size_t{1024} * 1024;
    // Told what went wrong with a connection or a listener, one line each, on the server's thread.
    // Empty: nobody is told.
    std::function<void(std::string_view)> on_notice{};
};

}  // namespace reprise::sandbox
