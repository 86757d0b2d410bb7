#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <reprise/engine/ids.hpp>
#include <reprise/retry/time.hpp>
#include <reprise/wire/cluster_node.hpp>

// A look at the connections of an engine: plain data, made without any I/O.

namespace reprise::engine {

enum class endpoint_state : std::uint8_t {
    disconnected,   // wanted, but there is none now; it is tried again by itself
    connecting,     // TCP, TLS or the key-value bootstrap is under way
    connected,      // requests may use it
    disconnecting,  // not wanted any more; it ends when the last answer is there
};

// One connection, or the lack of one.
struct endpoint_diagnostics {
    wire::service service = wire::service::key_value;
    endpoint_state state = endpoint_state::disconnected;
    connection_id connection{};  // 0 while disconnected
    std::string remote{};        // "host:port", as the cluster names it
    // Of key-value connections, and there empty for those to the cluster itself.
    std::string bucket{};
    // When it was connected or bytes came last; absent before that.
    std::optional<time_point> active_last{};
    // Why it is not connected, or cannot be used yet; empty: nothing is known to be wrong.
    std::string problem{};
};

struct engine_diagnostics {
    std::uint64_t client = 0;  // the number said in HELLO
    // Key-value first, by bucket; idle HTTP connections are closed soon and then not listed.
    std::vector<endpoint_diagnostics> endpoints{};
};

}  // namespace reprise::engine
