#pragma once

#include <cstddef>

#include <reprise/retry/time.hpp>
#include <reprise/wire/cluster_node.hpp>

namespace reprise::engine {

// What can be set for the HTTP services.
struct http_options {
    // Default time for one operation, from its start to the last byte of the answer.
    duration query_timeout = std::chrono::seconds{75};
    duration analytics_timeout = std::chrono::seconds{75};
    duration search_timeout = std::chrono::seconds{75};
    duration views_timeout = std::chrono::seconds{75};
    duration management_timeout = std::chrono::seconds{75};
    // Connections to one service of one node; further operations wait for one of them. 1..1024.
    std::size_t connections_per_node_max = 12;
    // A connection without a request for so long is closed. Servers close idle ones, too, some of
    // them after five seconds: a request must not meet that close on its way.
    duration idle_timeout = std::chrono::seconds{1};

    // The timeout for a service; management's for those without one of their own.
    [[nodiscard]] duration timeout_of(wire::service service) const noexcept {
        switch (service) {
            case wire::service::query:
                return query_timeout;
            case wire::service::analytics:
                return analytics_timeout;
            case wire::service::search:
                return search_timeout;
            case wire::service::views:
                return views_timeout;
            default:
                return management_timeout;
        }
    }
};

}  // namespace reprise::engine
