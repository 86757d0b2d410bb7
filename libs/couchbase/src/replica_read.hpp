#pragma once

#include <reprise/couchbase/detail/document_call.hpp>
#include <reprise/engine/operation_request.hpp>

// Reads of all copies of a document: get_any_replica and get_all_replicas.

namespace reprise::couchbase::detail {

// Starts one read of the active copy and one of each replica that the cluster's map names.
// `request` is the read of the active copy. The receiver is notified once, as in start_call.
// Defined for get_replica_result (the first copy wins) and replica_list (all copies).
template <class Result>
void start_replica_read(
    const call_target& target, engine::operation_request&& request,
    result_receiver<Result>* receiver, call_ticket ticket);

}  // namespace reprise::couchbase::detail
