#pragma once

#include <optional>

#include <reprise/retry/time.hpp>
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
    at_once,    // the forward map names another node: send now
    newer_map,  // a newer configuration has come: go by it, now unless that happens too often
    wait,       // nothing new: wait, or until a new configuration comes
};

// New revisions make an operation hurry: it is sent before its wait is over. A server that answers
// each attempt with a newer revision must not make a loop of that. So an operation hurries only
// this often ...
inline constexpr std::uint8_t hurry_count_max = 3;
// ... and after that it waits this long once a new revision has come, or less by its backoff ...
inline constexpr duration hurry_distance = std::chrono::milliseconds{100};
// ... unless there was no new revision for so long.
inline constexpr duration revision_pause = std::chrono::milliseconds{500};

// `configuration` is the newest one, with what the answer itself carried already applied.
[[nodiscard]] route_step on_not_my_vbucket(
    const wire::cluster_configuration& configuration, std::size_t vbucket, std::size_t replica,
    route_state& state) noexcept;

}  // namespace reprise::engine
