#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/wire/service.hpp>

namespace reprise::wire {

// Ports by service and transport; 0 means that the service is not offered there. There is no such
// thing as a default port: a service that is not named is not on the node.
struct service_ports {
    std::array<std::uint16_t, service_count> plain{};
    std::array<std::uint16_t, service_count> tls{};

    // 0 if the service is not offered over that transport.
    std::uint16_t port(service which, transport over) const noexcept {
        const auto slot = static_cast<std::size_t>(which);
        return over == transport::plain ? plain[slot] : tls[slot];
    }
    void set(service which, transport over, std::uint16_t port) noexcept {
        const auto slot = static_cast<std::size_t>(which);
        (over == transport::plain ? plain : tls)[slot] = port;
    }
    bool is_empty() const noexcept;

    friend bool operator==(const service_ports&, const service_ports&) = default;
};

// Where to connect. `host` has no brackets, also for IPv6. Views into the node it came from.
struct endpoint_view {
    std::string_view host;
    std::uint16_t port = 0;

    friend bool operator==(const endpoint_view&, const endpoint_view&) = default;
};

// How a node is reached from another network.
struct alternate_address {
    std::string network;
    std::string hostname;
    // Empty: the node's own ports apply. Otherwise only these exist on this network.
    service_ports ports;

    friend bool operator==(const alternate_address&, const alternate_address&) = default;
};

// The network of a node's own host name and ports, and the usual name of the one seen from outside.
inline constexpr std::string_view default_network = "default";
inline constexpr std::string_view external_network = "external";

struct cluster_node {
    // After parsing never empty: a host the server left out is the one the configuration came from.
    std::string hostname;
    service_ports ports;                        // on the default network
    std::vector<alternate_address> alternates;  // at most one per network
    std::string server_group;                   // empty if not sent
    std::string node_uuid;                      // empty if not sent
    bool is_this_node = false;  // the node that sent the configuration, if it said so

    // Null if the node has no address on that network. `default` is never among them.
    const alternate_address* find_alternate(std::string_view network) const noexcept;

    // The address of a service on a network. Empty if the service is not there, or if the node is
    // not on that network: such a node is unreachable but keeps its index.
    std::optional<endpoint_view> endpoint(
        service which, transport over, std::string_view network = default_network) const noexcept;

    friend bool operator==(const cluster_node&, const cluster_node&) = default;
};

// An address the client was told to bootstrap from. `port` is empty if none was given.
struct bootstrap_address {
    std::string host;
    std::optional<std::uint16_t> port;
};

// The network to use when the user asked for `auto`; call it once, with the first configuration.
// In this order: an address that equals a node's default address (host and port before host alone),
// then one that equals an alternate address, then `external` if some node offers key-value and
// management there, else `default`.
std::string select_network(
    std::span<const cluster_node> nodes, std::span<const bootstrap_address> bootstrap,
    transport over);

// "host:port", with brackets around IPv6.
std::string to_host_port(std::string_view host, std::uint16_t port);

}  // namespace reprise::wire
