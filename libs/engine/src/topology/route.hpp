#pragma once

#include <optional>

#include <reprise/retry/time.hpp>
#include <reprise/wire/cluster_configuration.hpp>

// Chooses the node of an operation, and applies a not-my-vbucket answer: the ten steps of RFC 0005
// as two pure functions over a small state in the operation.

namespace reprise::engine {

enum class route_map : std::uint8_t {
    current,  // the map in force
    forward,  // the map after the running rebalance
};

// State that an operation keeps from its last attempt.
struct route_state {
    // The configuration that the last attempt used.
    wire::configuration_revision revision{};
    // The node of the last attempt, as an index in that configuration.
    std::optional<wire::node_index> node;
    route_map map = route_map::current;
};

// Returns the node for the next attempt. Empty if the map names none. Returns to the current map
// only if a newer configuration has arrived since the last attempt. Records the choice in `state`.
// `replica` 0 is the active copy; replicas have no forward map.
[[nodiscard]] [[gnu::always_inline]] inline const std::optional<wire::node_index>& choose_node(
    const wire::cluster_configuration& configuration, std::size_t vbucket, std::size_t replica,
    route_state& state) noexcept {
    if (configuration.revision() > state.revision) {
        state.map = route_map::current;
    }
    state.revision = configuration.revision();
    if (replica != 0) {
        state.node = configuration.replica_node(vbucket, replica);
    } else if (state.map == route_map::forward) {
        state.node = configuration.forward_node(vbucket);
    } else {
        state.node = configuration.active_node(vbucket);
    }
    return state.node;
}

// The next step after not-my-vbucket.
enum class route_step : std::uint8_t {
    at_once,    // the forward map names another node: send now
    newer_map,  // use the newer configuration, now unless that happens too often
    wait,       // nothing new: wait for the backoff or a new configuration
};

// A new revision sends an operation before its backoff is over. A server that answers each attempt
// with a newer revision must not turn that into a busy loop. So an operation skips its backoff only
// this often ...
inline constexpr std::uint8_t skipped_backoffs_max = 3;
// ... after that it waits for engine_options::revision_delay_max after a new revision, or until its
// backoff ends, unless no revision had arrived for this long.
inline constexpr duration revision_pause = std::chrono::milliseconds{500};

// `configuration` is the newest one. A configuration in the answer itself must have been applied
// already.
[[nodiscard]] route_step on_not_my_vbucket(
    const wire::cluster_configuration& configuration, std::size_t vbucket, std::size_t replica,
    route_state& state) noexcept;

}  // namespace reprise::engine
