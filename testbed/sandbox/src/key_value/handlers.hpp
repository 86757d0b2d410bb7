#pragma once

#include "key_value/request.hpp"

namespace reprise::sandbox::detail {

// One function per command, grouped by file. Each decodes its message and answers or rejects it
// exactly once.

// Whether a connection can negotiate the feature.
bool is_offered_feature(const wire::hello_feature_facts& facts) noexcept;

// handlers_session.cpp
void handle_hello(request& current);
void handle_sasl_list(request& current);
void handle_sasl_auth(request& current);
void handle_sasl_step(request& current);
void handle_select_bucket(request& current);
void handle_error_map(request& current);
void handle_noop(request& current);
void handle_quit(request& current);
void handle_version(request& current);
void handle_verbosity(request& current);

// handlers_cluster.cpp
void handle_cluster_config(request& current);
void handle_manifest(request& current);
void handle_collection_id(request& current);
void handle_scope_id(request& current);
void handle_stat(request& current);

// handlers_read.cpp
void handle_get(request& current);
void handle_get_replica(request& current);
void handle_get_meta(request& current);
void handle_observe(request& current);
void handle_observe_seqno(request& current);

// handlers_store.cpp
void handle_store(request& current);
void handle_concat(request& current);
void handle_remove(request& current);
void handle_counter(request& current);

// handlers_touch.cpp
void handle_touch(request& current);
void handle_get_locked(request& current);
void handle_unlock(request& current);

// handlers_subdoc.cpp
void handle_subdoc_single(request& current);
void handle_subdoc_lookup(request& current);
void handle_subdoc_mutation(request& current);

// handlers_scan.cpp
void handle_scan_create(request& current);
void handle_scan_continue(request& current);
void handle_scan_cancel(request& current);

}  // namespace reprise::sandbox::detail
