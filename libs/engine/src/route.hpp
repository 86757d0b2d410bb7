#pragma once

#include <optional>

#include <reprise/wire/cluster_configuration.hpp>

// Which node an operation goes to, and what a not-my-vbucket answer changes about it: the ten steps
// of RFC 0005 as two pure functions over a little state of the operation.

namespace reprise::engine {

enum class route_map : std::uint8_t {
    current,  // the map in force
    forward,  // the map after the running rebalance
};

// What an operation remembers of its last attempt.
struct route_state {
    route_map map = route_map::current;
    // The configuration by which the last attempt was sent.
    wire::configuration_revision revision{};
    // The node it was sent to, as index of that configuration.
    std::optional<wire::node_index> node;
};

// The node for the next attempt; nothing if the map has none. Moves back to the current map when a
// newer configuration has come since the last attempt, and only then. Notes in `state` what it
// chose. `replica` 0 is the active copy; replicas have no forward map.
[[nodiscard]] std::optional<wire::node_index> choose_node(
    const wire::cluster_configuration& configuration, std::size_t vbucket, std::size_t replica,
    route_state& state) noexcept;

// What to do after not-my-vbucket.
enum class route_step : std::uint8_t {
    at_once,  // another node is known: send now
    wait,     // nothing new: wait, or until a new configuration comes
};

// `configuration` is the newest one, with what the answer itself carried already applied.
[[nodiscard]] route_step on_not_my_vbucket(
    const wire::cluster_configuration& configuration, std::size_t vbucket, std::size_t replica,
    route_state& state) noexcept;

}  // namespace reprise::engine
