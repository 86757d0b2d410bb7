#pragma once

#include <string>
#include <vector>

#include <reprise/sandbox/ids.hpp>
#include <reprise/wire/cluster_node.hpp>

namespace reprise::sandbox {

/// The ports of one node. 0: the node does not have this port. Services that do not run on every
/// node have one only if server_options::services names them.
using node_ports = wire::service_ports;

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
