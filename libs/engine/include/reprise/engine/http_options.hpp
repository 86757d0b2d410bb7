#pragma once

#include <cstddef>

#include <reprise/retry/time.hpp>
#include <reprise/wire/service.hpp>

namespace reprise::engine {

// What can be set for the HTTP services.
struct http_options {
    // Default time for one operation, from its start to the last byte of the answer.
    duration query_timeout = wire::facts_of(wire::service::query).timeout;
    duration analytics_timeout = wire::facts_of(wire::service::analytics).timeout;
    duration search_timeout = wire::facts_of(wire::service::search).timeout;
    duration views_timeout = wire::facts_of(wire::service::views).timeout;
    duration management_timeout = wire::facts_of(wire::service::management).timeout;
    // Connections to one service of one node; further operations wait for one of them. 1..1024.
    std::size_t connections_per_node_max = 12;
    // A connection without a request for so long is closed. Servers close idle ones, too, some of
    // them after five seconds: a request must not meet that close on its way.
    duration idle_timeout = std::chrono::seconds{1};

    // The timeout for a service; management's for those without one of their own.
    [[nodiscard]] duration timeout_of(wire::service service) const noexcept;
};

}  // namespace reprise::engine
