#pragma once

#include <optional>

#include <reprise/engine/vocabulary.hpp>
#include <reprise/retry/time.hpp>

#include "topology/cluster_state.hpp"

// Terminal states of buckets: waiting does not help while one is set. These are pure functions over
// the links of a bucket and the flags of their endpoints. They run when links change, and store the
// result in the bucket for operations to read.

namespace reprise::engine {

// The state that best explains why nothing can be dispatched. Empty if there is none.
[[nodiscard]] std::optional<retry_reason> terminal_reason(const bucket_state& bucket) noexcept;

// Whether no node has the bucket, as this loop or another one has concluded.
[[nodiscard]] bool is_missing(const bucket_state& bucket) noexcept;
// This loop's conclusion.
void set_missing(bucket_state& bucket, bool is_so) noexcept;

// Whether the current topology names the link's node. Without a configuration, the seeds are the
// topology. With one, a seed outside it may be asked for a newer configuration, but its refusals do
// not count for this cluster (RH-25 to RH-27).
[[nodiscard]] bool is_in_topology(const node_link& link) noexcept;

// Derives the bucket's flags from the nodes of its current topology only.
void refresh_terminal_state(bucket_state& bucket) noexcept;

// Whether another seed may still reveal the cluster. Until then a seed that refuses the client
// without having proved who it is, or that has no valid certificate, does not represent the cluster
// (RH-48).
[[nodiscard]] bool may_other_seeds_answer(const bucket_state& bucket) noexcept;

// Whether any seed has refused the client or has no valid certificate.
[[nodiscard]] bool has_refusal(const bucket_state& bucket) noexcept;

// Marks the seeds that have been silent for `silence_max`. Returns when the next one will have
// been; empty if no seed is left to wait for.
std::optional<time_point> mark_silent_seeds(
    bucket_state& bucket, duration silence_max, time_point now) noexcept;

// Whether every link of this bucket has failed to connect.
[[nodiscard]] bool has_given_up(const bucket_state& bucket) noexcept;

// A node answered that it does not have the bucket (0x01): it starts, or the bucket does not exist.
// The latter is assumed only for a bucket that was never open, if all nodes that can be asked have
// answered nothing else for a while (RH-27).
void on_bucket_missing(node_link& link, time_point now) noexcept;

// A node answered something else to select bucket: the wait starts again.
void on_bucket_not_missing(node_link& link) noexcept;

// When the bucket counts as missing if no node answers anything else. Empty if some node may still
// have it.
[[nodiscard]] std::optional<time_point> missing_due(
    bucket_state& bucket, duration patience, time_point now) noexcept;

// A node has selected the bucket.
void clear_bucket_refusals(bucket_state& bucket) noexcept;

}  // namespace reprise::engine
