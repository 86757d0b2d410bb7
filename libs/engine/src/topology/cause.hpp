#pragma once

#include <string>

#include <reprise/engine/vocabulary.hpp>

#include "topology/cluster_state.hpp"

// Explains in words why something that operations wait for does not happen. Called only when an
// error is built.

namespace reprise::engine {

[[nodiscard]] bool is_connected(const node_link& link) noexcept;

// Why there is no open connection.
[[nodiscard]] std::string link_cause(const node_link& link, const connect_gate& gate);

// Why operations of this bucket cannot be routed or sent.
[[nodiscard]] std::string bucket_cause(const bucket_state& bucket, const engine_context& context);

// Why a terminal state is set. Empty if it is not.
[[nodiscard]] std::string terminal_cause(const bucket_state& bucket, retry_reason reason);

}  // namespace reprise::engine
