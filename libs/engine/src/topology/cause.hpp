#pragma once

#include <string>

#include <reprise/engine/vocabulary.hpp>

#include "topology/cluster_state.hpp"

// Why something that operations wait for does not come, in words: made when an error is made.

namespace reprise::engine {

[[nodiscard]] bool is_connected(const node_link& link) noexcept;

// Why there is no open connection.
[[nodiscard]] std::string link_cause(const node_link& link, const connect_gate& gate);

// Why nothing can be asked about, or sent to, this bucket.
[[nodiscard]] std::string bucket_cause(const bucket_state& bucket, const engine_context& context);

// Why a terminal state holds; empty: it does not.
[[nodiscard]] std::string terminal_cause(const bucket_state& bucket, retry_reason reason);

}  // namespace reprise::engine
