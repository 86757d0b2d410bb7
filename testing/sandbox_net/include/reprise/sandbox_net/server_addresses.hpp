#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <reprise/sandbox/ids.hpp>

namespace reprise::sandbox {

// Where one node listens. 0: not there.
struct node_ports {
    std::uint16_t key_value = 0;
    std::uint16_t key_value_tls = 0;
    std::uint16_t management = 0;
    std::uint16_t management_tls = 0;
    // Only with server_options::services.
    std::uint16_t views = 0;
    std::uint16_t views_tls = 0;
    std::uint16_t query = 0;
    std::uint16_t query_tls = 0;
    std::uint16_t search = 0;
    std::uint16_t search_tls = 0;
    std::uint16_t analytics = 0;
    std::uint16_t analytics_tls = 0;
};

// A node that joined while the server ran.
struct added_node {
    node_id node{};
    node_ports ports{};
};

// Where everything is and how to get in: what a client, a person or the ready file needs.
struct server_addresses {
    std::string connection_string;      // couchbase://127.0.0.1:p,...; of the first nodes
    std::string connection_string_tls;  // couchbases://...; empty without TLS
    std::string ca_path;                // PEM; empty without TLS
    std::vector<node_ports> nodes;      // by node number, also of nodes that left
    std::string control_url;            // http://127.0.0.1:p/control
    std::string control_token;          // wanted there as a bearer token; random for each server
};

}  // namespace reprise::sandbox
