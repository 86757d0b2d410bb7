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

/// Ports by service and transport. A port of 0 means that the node does not offer the service
/// there. There are no default ports: a node runs only the services that the configuration lists.
struct service_ports {
    std::array<std::uint16_t, service_count> plain{};
    std::array<std::uint16_t, service_count> tls{};

    /// Returns 0 if the node does not offer the service over that transport.
    std::uint16_t port(service which, transport over = transport::plain) const noexcept {
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

/// The address to connect to. `host` never has brackets, not even for IPv6. The views point into
/// the node.
struct endpoint_view {
    std::string_view host;
    std::uint16_t port = 0;

    friend bool operator==(const endpoint_view&, const endpoint_view&) = default;
};

/// The address of a node on another network.
struct alternate_address {
    std::string network;
    std::string hostname;
    /// If no port is set, the node's own ports apply. Otherwise only these ports exist on this
    /// network.
    service_ports ports;

    friend bool operator==(const alternate_address&, const alternate_address&) = default;
};

/// The name of the network that a node's own host name and ports belong to, and the usual name of
/// the network outside.
inline constexpr std::string_view default_network = "default";
inline constexpr std::string_view external_network = "external";

struct cluster_node {
    /// Never empty after parsing: if the server omits the host, the host that sent the
    /// configuration is used.
    std::string hostname;
    service_ports ports;                        ///< ports on the default network
    std::vector<alternate_address> alternates;  ///< at most one per network
    std::string server_group;                   ///< empty if the server sent none
    std::string node_uuid;                      ///< empty if the server sent none
    bool is_this_node = false;  ///< the node that sent the configuration, if the server marks it

    /// Returns null if the node has no address on that network. `default` is never an alternate.
    const alternate_address* find_alternate(std::string_view network) const noexcept;

    /// Returns the address of a service on a network. Returns nothing if the node does not offer
    /// the service or is not on that network. A node that is not on the network is unreachable but
    /// keeps its index.
    std::optional<endpoint_view> endpoint(
        service which, transport over, std::string_view network = default_network) const noexcept;

    friend bool operator==(const cluster_node&, const cluster_node&) = default;
};

/// An address to bootstrap from. `port` is empty if the user gave none.
struct bootstrap_address {
    std::string host;
    std::optional<std::uint16_t> port;
};

/// Chooses the network if the user asked for `auto`. Call it once, with the first configuration. It
/// looks, in this order, for a bootstrap address that equals a node's default address (host and
/// port before host alone), then for one that equals an alternate address. If there is neither, it
/// returns `external` if some node offers key-value and management there, and `default` otherwise.
std::string select_network(
    std::span<const cluster_node> nodes, std::span<const bootstrap_address> bootstrap,
    transport over);

/// Returns "host:port", with brackets around an IPv6 host.
std::string to_host_port(std::string_view host, std::uint16_t port);

}  // namespace reprise::wire
