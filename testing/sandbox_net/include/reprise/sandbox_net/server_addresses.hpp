#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <ranges>
#include <string>
#include <vector>

#include <reprise/sandbox/ids.hpp>
#include <reprise/wire/service.hpp>

namespace reprise::sandbox {

/// The ports of one node. 0: the node does not have this port.
struct node_ports {
    std::uint16_t key_value = 0;
    std::uint16_t key_value_tls = 0;
    std::uint16_t management = 0;
    std::uint16_t management_tls = 0;
    /// Set only for services in server_options::services.
    std::uint16_t views = 0;
    std::uint16_t views_tls = 0;
    std::uint16_t query = 0;
    std::uint16_t query_tls = 0;
    std::uint16_t search = 0;
    std::uint16_t search_tls = 0;
    std::uint16_t analytics = 0;
    std::uint16_t analytics_tls = 0;
};

/// The members of `node_ports` that belong to a service.
struct node_port_row {
    wire::service which;
    std::uint16_t node_ports::* plain;
    std::uint16_t node_ports::* tls;

    [[nodiscard]] constexpr std::uint16_t node_ports::* field(wire::transport over) const noexcept {
        return over == wire::transport::plain ? plain : tls;
    }
};

/// One row per service of the sandbox, in the order of their port numbers.
inline constexpr std::array node_port_table{
    node_port_row{
        .which = wire::service::key_value,
        .plain = &node_ports::key_value,
        .tls = &node_ports::key_value_tls},
    node_port_row{
        .which = wire::service::management,
        .plain = &node_ports::management,
        .tls = &node_ports::management_tls},
    node_port_row{
        .which = wire::service::views, .plain = &node_ports::views, .tls = &node_ports::views_tls},
    node_port_row{
        .which = wire::service::query, .plain = &node_ports::query, .tls = &node_ports::query_tls},
    node_port_row{
        .which = wire::service::search,
        .plain = &node_ports::search,
        .tls = &node_ports::search_tls},
    node_port_row{
        .which = wire::service::analytics,
        .plain = &node_ports::analytics,
        .tls = &node_ports::analytics_tls},
};
static_assert(
    std::ranges::equal(
        node_port_table, wire::service_table | std::views::filter(&wire::service_facts::is_used),
        {}, &node_port_row::which, &wire::service_facts::which),
    "each service that the client uses must have its ports");

/// A node that was added while the server was running.
struct added_node {
    node_id node{};
    node_ports ports{};
};

/// The addresses and credentials that a client, a person or the ready file needs.
struct server_addresses {
    std::string connection_string;      // couchbase://127.0.0.1:p,...; only the initial nodes
    std::string connection_string_tls;  // couchbases://...; empty without TLS
    std::string ca_path;                // PEM; empty without TLS
    std::vector<node_ports> nodes;      // by node number, including nodes that left
    std::string control_url;            // http://127.0.0.1:p/control
    std::string control_token;          // required as a bearer token; random for each server
    std::string console_url;            // with the token; empty without a console
};

}  // namespace reprise::sandbox
