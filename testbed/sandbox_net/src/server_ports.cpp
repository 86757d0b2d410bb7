#include <algorithm>
#include <chrono>

#include "server_core.hpp"

// Decides which ports are open: the control port, and those of every node that accepts connections.

namespace reprise::sandbox::detail {

namespace {

constexpr std::string_view loopback = "127.0.0.1";
bool is_offered(const server_options& options, wire::service which) noexcept {
    return wire::facts_of(which).is_on_every_node ||
           std::ranges::find(options.services, which) != options.services.end();
}

// How many consecutive ports a node uses if the system does not choose them.
std::size_t ports_per_node(const server_options& options) noexcept {
    std::size_t count = 0;
    for (const wire::service which : wire::list_services(wire::is_used_service)) {
        count += is_offered(options, which) ? std::size_t{2} : std::size_t{0};
    }
    return count;
}

// Returns the first service that cannot be offered; empty: there is none.
std::string find_unknown_service(const server_options& options) {
    for (const wire::service each : options.services) {
        if (!wire::facts_of(each).is_used) {
            return std::string(to_string(each));
        }
    }
    return {};
}

std::string join_addresses(
    std::string_view scheme, const std::vector<node_ports>& nodes, wire::transport over) {
    std::string text(scheme);
    for (const node_ports& node : nodes) {
        text += text.size() == scheme.size() ? "" : ",";
        text += wire::to_host_port(loopback, node.port(wire::service::key_value, over));
    }
    return text;
}

wire::cluster_node describe_ports(const node_ports& ports) {
    wire::cluster_node node;
    node.hostname = std::string(loopback);
    node.ports = ports;
    return node;
}

constexpr std::chrono::milliseconds port_retry_pause{100};

node_id to_node_id(std::size_t number) noexcept {
    return node_id{static_cast<std::uint32_t>(number)};
}

}  // namespace

std::expected<node_ports, std::string> server_core::listen_node(std::size_t number) {
    // The control port is between those of the initial nodes and of added ones.
    const std::size_t base = options_.port + ports_per_node(options_) * number +
                             (number >= options_.cluster.node_count ? 1 : 0);
    if (options_.port != 0 && base + ports_per_node(options_) > 65536) {
        return std::unexpected("the port number is too high for this many nodes");
    }
    node_ports ports;
    std::size_t offset = 0;
    for (const wire::service which : wire::list_services(wire::is_used_service)) {
        if (!is_offered(options_, which)) {
            continue;
        }
        for (const wire::transport over : {wire::transport::plain, wire::transport::tls}) {
            const auto wanted = static_cast<std::uint16_t>(options_.port == 0 ? 0 : base + offset);
            ++offset;
            if (over == wire::transport::tls && !tls_) {
                continue;
            }
            const auto what = which == wire::service::key_value ? port_role::kind::key_value
                                                                : port_role::kind::service;
            const auto port = ports_.listen(
                {.what = what, .node = to_node_id(number), .over = over, .service = which}, wanted);
            if (!port) {
                ports_.close(to_node_id(number));
                return std::unexpected(port.error());
            }
            ports.set(which, over, *port);
        }
    }
    return ports;
}

std::expected<void, std::string> server_core::listen_all() {
    if (const std::string unknown = find_unknown_service(options_); !unknown.empty()) {
        return std::unexpected("the sandbox has no " + unknown + " service");
    }
    const std::size_t node_count = options_.cluster.node_count;
    const std::size_t control_port = options_.port + ports_per_node(options_) * node_count;
    if (options_.port != 0 && control_port > 65535) {
        return std::unexpected("the port number is too high for this many nodes");
    }
    for (std::size_t number = 0; number < node_count; ++number) {
        const auto ports = listen_node(number);
        if (!ports) {
            return std::unexpected(ports.error());
        }
        addresses_.nodes.push_back(*ports);
    }
    const auto control = ports_.listen(
        {.what = port_role::kind::control},
        static_cast<std::uint16_t>(options_.port == 0 ? 0 : control_port));
    if (!control) {
        return std::unexpected(control.error());
    }
    const std::string server = "http://" + wire::to_host_port(loopback, *control);
    addresses_.control_url = server + "/control";
    if (!options_.console_page.empty()) {
        addresses_.console_url = server + "/console?token=" + addresses_.control_token;
    }
    return {};
}

std::expected<void, std::string> server_core::publish() {
    for (std::size_t number = 0; number < addresses_.nodes.size(); ++number) {
        const auto set = brain_.topology().set_endpoints(
            to_node_id(number), describe_ports(addresses_.nodes[number]));
        if (!set) {
            return std::unexpected(std::string(to_string(set.error())));
        }
    }
    addresses_.connection_string =
        join_addresses("couchbase://", addresses_.nodes, wire::transport::plain);
    if (tls_) {
        addresses_.connection_string_tls =
            join_addresses("couchbases://", addresses_.nodes, wire::transport::tls);
    }
    return {};
}

std::expected<node_id, std::string> server_core::add_node() {
    // First number the nodes that were added directly to the cluster.
    update_ports();
    const auto ports = listen_node(addresses_.nodes.size());
    if (!ports) {
        return std::unexpected(ports.error());
    }
    const auto added = brain_.topology().add_node(describe_ports(*ports));
    if (!added) {
        ports_.close(to_node_id(addresses_.nodes.size()));
        return std::unexpected(std::string(to_string(added.error())));
    }
    addresses_.nodes.push_back(*ports);
    return *added;
}

void server_core::run_rebalance(std::chrono::milliseconds interval) {
    if (!is_stopped_) {
        rebalance_.run(interval);
    }
}

void server_core::update_ports() {
    if (node_generation_seen_ == brain_.topology().node_generation()) {
        return;
    }
    while (brain_.topology().state_of(to_node_id(addresses_.nodes.size()))) {
        const std::size_t number = addresses_.nodes.size();
        const auto ports = listen_node(number);
        if (!ports) {
            notice("node " + std::to_string(number) + " has no ports: " + ports.error());
        }
        addresses_.nodes.push_back(ports ? *ports : node_ports{});
        // A node that already left has nothing to announce.
        (void)brain_.topology().set_endpoints(
            to_node_id(number), describe_ports(addresses_.nodes.back()));
    }
    node_generation_seen_ = brain_.topology().node_generation();
    for (std::size_t number = 0; number < addresses_.nodes.size(); ++number) {
        if (brain_.topology().state_of(to_node_id(number)) == node_state::left) {
            ports_.close(to_node_id(number));
        }
    }
    open_wanted_ports();
    update_disturbances();
}

void server_core::open_wanted_ports() {
    const bool is_complete = ports_.update([this](const port_role& role) {
        return role.what == port_role::kind::control ||
               (is_up(role.node) && !brain_.disturbances().of(role.node).refuses_connections);
    });
    if (is_complete) {
        return;
    }
    port_timer_.expires_after(port_retry_pause);
    port_timer_.async_wait([weak = weak_from_this()](const boost::system::error_code& ec) {
        const auto self = weak.lock();
        if (!ec && self && !self->is_stopped_) {
            self->open_wanted_ports();
        }
    });
}

}  // namespace reprise::sandbox::detail
