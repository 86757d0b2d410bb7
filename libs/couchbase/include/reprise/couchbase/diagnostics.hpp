#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/couchbase/service_options.hpp>
#include <reprise/retry/time.hpp>

// What cluster::diagnostics tells. A snapshot: made without any I/O, old as soon as it is read.

namespace reprise::couchbase {

enum class endpoint_state : std::uint8_t {
    disconnected,   // wanted, but there is none now; the client tries again by itself
    connecting,     // TCP, TLS or the login is under way
    connected,      // operations may use it
    disconnecting,  // the cluster does not name it any more; it ends with its last answer
};

// One connection, or the lack of one.
struct endpoint_report {
    service_kind service = service_kind::key_value;
    endpoint_state state = endpoint_state::disconnected;
    // "client/connection" in hexadecimal, as servers write it in their logs; empty while
    // disconnected.
    std::string id{};
    std::string remote{};  // "host:port", as the cluster names it
    std::string local{};   // "address:port"; empty unless connected
    // Of key-value connections; empty for those to the cluster as such.
    std::string bucket{};
    // How long ago it was connected or something came; absent before that.
    std::optional<duration> last_activity{};
    // Why it is not connected, or cannot be used yet: "connection refused". Empty: nothing is known
    // to be wrong.
    std::string problem{};
};

enum class cluster_state : std::uint8_t {
    online,    // everything that is wanted is connected
    degraded,  // something is, something is not
    offline,   // nothing is connected
};

struct diagnostics_report {
    std::string id{};  // of the client, as in endpoint_report::id
    cluster_state state = cluster_state::offline;
    // Key-value first. HTTP connections are there while they are used and for a second after; a
    // service that could not be reached last time is listed as disconnected.
    std::vector<endpoint_report> endpoints{};
};

// "kv", "mgmt", "query", "analytics", "search", "views": as all SDKs write them in reports.
[[nodiscard]] std::string_view to_string(service_kind service) noexcept;
// "disconnected", "connecting", "connected", "disconnecting"
[[nodiscard]] std::string_view to_string(endpoint_state state) noexcept;
// "online", "degraded", "offline"
[[nodiscard]] std::string_view to_string(cluster_state state) noexcept;

// What a list of endpoints comes to. Those that are disconnecting do not count.
[[nodiscard]] cluster_state state_of(const std::vector<endpoint_report>& endpoints) noexcept;

// The report in the form of the SDKs (version 2), for tools that read theirs: endpoints by service,
// `last_activity_us`, the bucket as `namespace`, the problem as `details`.
[[nodiscard]] std::string to_json(const diagnostics_report& report);

}  // namespace reprise::couchbase
