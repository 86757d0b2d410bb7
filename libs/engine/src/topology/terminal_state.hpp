#pragma once

#include <optional>

#include <reprise/engine/vocabulary.hpp>
#include <reprise/retry/time.hpp>

#include "topology/cluster_state.hpp"

// Terminal states of buckets: whether waiting helps at all. Pure functions over the links of a
// bucket and the flags of their endpoints. They are called when links change; what operations ask
// for is kept in the bucket.

namespace reprise::engine {

// How long a refusal by one seed waits for the others. RH-38 allows 500 ms.
inline constexpr duration seed_patience = std::chrono::milliseconds{400};

// The state that explains best why nothing can be dispatched; nothing: there is none.
[[nodiscard]] std::optional<retry_reason> terminal_reason(const bucket_state& bucket) noexcept;

// Derives the bucket's flags from the nodes of its own topology, and from no others.
void refresh_terminal_state(bucket_state& bucket) noexcept;

// One seed that refuses us, or cannot prove who it is, must not speak for a cluster that another
// seed may be about to show us.
[[nodiscard]] bool may_wait_for_seeds(const bucket_state& bucket) noexcept;

// Every way to a configuration of this bucket has failed once.
[[nodiscard]] bool has_given_up(const bucket_state& bucket) noexcept;

// A node answered that it has no such bucket. One node alone may be behind; if all that can be
// asked answer so, there is no such bucket.
void on_bucket_missing(node_link& link, time_point now) noexcept;

// A node has opened the bucket.
void clear_bucket_refusals(bucket_state& bucket) noexcept;

}  // namespace reprise::engine
