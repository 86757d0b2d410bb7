#pragma once

#include <reprise/couchbase/detail/calls.hpp>
#include <reprise/engine/operation_request.hpp>
#include <reprise/wire/cluster_configuration.hpp>

#include "subdocument_call.hpp"

// Reads of all copies of a document: get_any_replica, get_all_replicas, and the same for lookups.

namespace reprise::couchbase::detail {

// The copies to read, 0 for the active one. None if all are outside the group and must be in it.
[[nodiscard]] std::vector<std::uint8_t> choose_copies(
    const wire::cluster_configuration& map, std::size_t vbucket, read_preference preference,
    std::string_view server_group);

// Whether the bucket's nodes accept lookups of replicas.
[[nodiscard]] bool has_replica_lookups(const wire::cluster_configuration& map);

// Starts one read of the active copy and one of each replica that the cluster's map names, as far
// as its preference allows it.
// `request` is the read of the active copy, `paths` what its answer needs, if it is a lookup. The
// receiver is notified once, as in start_call. Defined for get_replica_result and
// lookup_in_replica_result (the first copy wins), and for replica_list and lookup_replica_list (all
// copies).
template <class Result>
void start_replica_read(
    const call_target& target, engine::operation_request&& request, path_note_ptr&& paths,
    const result_receiver<Result>& receiver, step_cancellation&& cancellation);

}  // namespace reprise::couchbase::detail
