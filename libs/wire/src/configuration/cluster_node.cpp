#include <reprise/wire/cluster_node.hpp>

#include <algorithm>

namespace reprise::wire {

namespace {

// A user's bootstrap address refers to one of these two services.
bool has_port(const service_ports& ports, std::uint16_t port, transport over) noexcept {
    return ports.port(service::key_value, over) == port ||
           ports.port(service::management, over) == port;
}

// An alternate address either lists all its ports or shares the node's own.
const service_ports& effective_ports(
    const cluster_node& node, const alternate_address& address) noexcept {
    return address.ports.is_empty() ? node.ports : address.ports;
}

// How much of an address must match.
enum class match : std::uint8_t { host_and_port, host };

bool matches(
    const bootstrap_address& address, std::string_view host, const service_ports& ports,
    transport over, match how) noexcept {
    if (address.host != host) {
        return false;
    }
    return how == match::host || (address.port && has_port(ports, *address.port, over));
}

// Returns the network on which some node has one of the addresses, or an empty view.
std::string_view find_network(
    std::span<const cluster_node> nodes, std::span<const bootstrap_address> bootstrap,
    transport over, match how) noexcept {
    for (const bootstrap_address& address : bootstrap) {
        for (const cluster_node& node : nodes) {
            if (matches(address, node.hostname, node.ports, over, how)) {
                return default_network;
            }
        }
    }
    // Looks here only if no default address matches on any node.
    for (const bootstrap_address& address : bootstrap) {
        for (const cluster_node& node : nodes) {
            for (const alternate_address& other : node.alternates) {
                if (matches(address, other.hostname, effective_ports(node, other), over, how)) {
                    return other.network;
                }
            }
        }
    }
    return {};
}

}  // namespace

bool service_ports::is_empty() const noexcept {
    const auto is_zero = [](std::uint16_t port) { return port == 0; };
    return std::ranges::all_of(plain, is_zero) && std::ranges::all_of(tls, is_zero);
}

const alternate_address* cluster_node::find_alternate(std::string_view network) const noexcept {
    const auto found = std::ranges::find(alternates, network, &alternate_address::network);
    return found == alternates.end() ? nullptr : &*found;
}

std::optional<endpoint_view> cluster_node::endpoint(
    service which, transport over, std::string_view network) const noexcept {
    endpoint_view result{hostname, ports.port(which, over)};
    if (network != default_network) {
        const alternate_address* address = find_alternate(network);
        if (address == nullptr) {
            return std::nullopt;
        }
        result = {address->hostname, effective_ports(*this, *address).port(which, over)};
    }
    return result.port == 0 ? std::nullopt : std::optional(result);
}

std::string select_network(
    std::span<const cluster_node> nodes, std::span<const bootstrap_address> bootstrap,
    transport over) {
    // The port decides if several networks share a host, as with port-mapped containers.
    for (const match how : {match::host_and_port, match::host}) {
        const std::string_view network = find_network(nodes, bootstrap, over, how);
        if (!network.empty()) {
            return std::string(network);
        }
    }
    // The client used a name that is not the cluster's own, such as a load balancer's, so it is
    // probably outside.
    const bool has_external = std::ranges::any_of(nodes, [&](const cluster_node& node) {
        return node.endpoint(service::key_value, over, external_network).has_value() &&
               node.endpoint(service::management, over, external_network).has_value();
    });
    return std::string(has_external ? external_network : default_network);
}

std::string to_host_port(std::string_view host, std::uint16_t port) {
    std::string text;
    if (host.find(':') != std::string_view::npos) {
        text.append("[").append(host).append("]");
    } else {
        text = host;
    }
    return text + ":" + std::to_string(port);
}

}  // namespace reprise::wire
