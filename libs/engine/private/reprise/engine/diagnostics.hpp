#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <reprise/engine/ids.hpp>
#include <reprise/retry/time.hpp>
#include <reprise/wire/cluster_node.hpp>

// The state of an engine's connections as plain data, collected without any I/O.

namespace reprise::engine {

enum class endpoint_state : std::uint8_t {
    disconnected,   // not open now; reconnects automatically
    connecting,     // TCP, TLS or the key-value bootstrap is in progress
    connected,      // requests may use it
    disconnecting,  // no longer needed; closes after the last answer
};

// Where a node offers a service: "host:port", as the cluster names it.
struct service_address {
    wire::service service = wire::service::key_value;
    std::string remote{};
};

// One connection, open or missing.
struct endpoint_diagnostics {
    wire::service service = wire::service::key_value;
    endpoint_state state = endpoint_state::disconnected;
    connection_id connection{};  // 0 while disconnected
    std::string remote{};        // "host:port", as the cluster names it
    // Only for key-value connections. Empty for connections to the cluster itself.
    std::string bucket{};
    // When it last connected or received bytes. Empty before that.
    std::optional<time_point> active_last{};
    // Why it is not connected or not usable yet. Empty if no problem is known.
    std::string problem{};
};

struct engine_diagnostics {
    std::uint64_t client = 0;  // the number sent in HELLO
    // Key-value connections come first, grouped by bucket. HTTP connections that are idle are soon
    // closed and then not listed.
    std::vector<endpoint_diagnostics> endpoints{};
};

}  // namespace reprise::engine
