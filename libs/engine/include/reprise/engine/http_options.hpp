#pragma once

#include <array>
#include <cstddef>

#include <reprise/retry/time.hpp>
#include <reprise/wire/service.hpp>

namespace reprise::engine {

// Options of the HTTP services.
struct http_options {
    // Default timeout of one operation of each service, from its start to the last byte of the
    // answer.
    std::array<duration, wire::service_count> timeouts = default_timeouts();
    // Connections to one service of one node. Further operations wait for one of them. 1..1024.
    std::size_t connections_per_node_max = 12;
    // A connection without a request is closed after this time. Servers close idle connections,
    // too, some of them after five seconds; a request must not meet such a close on its way.
    duration idle_timeout = std::chrono::seconds{1};

    [[nodiscard]] constexpr duration timeout_of(wire::service service) const noexcept {
        return timeouts[static_cast<std::size_t>(service)];
    }

    [[nodiscard]] static constexpr std::array<duration, wire::service_count>
    default_timeouts() noexcept {
        std::array<duration, wire::service_count> timeouts{};
        for (const wire::service_facts& facts : wire::service_table) {
            timeouts[static_cast<std::size_t>(facts.which)] = facts.timeout;
        }
        return timeouts;
    }
};

}  // namespace reprise::engine
