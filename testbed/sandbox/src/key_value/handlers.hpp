#pragma once

#include <reprise/wire/cluster_messages.hpp>
#include <reprise/wire/document_messages.hpp>
#include <reprise/wire/observe_messages.hpp>
#include <reprise/wire/range_scan_messages.hpp>
#include <reprise/wire/session_messages.hpp>
#include <reprise/wire/subdoc_messages.hpp>

#include "key_value/request.hpp"

namespace reprise::sandbox::detail {

// One function per command, grouped by file. Each answers or rejects its message exactly once.

// Whether a connection can negotiate the feature.
bool is_offered_feature(const wire::hello_feature_facts& facts) noexcept;

// handlers_session.cpp
void handle_hello(request& current);
void handle_sasl_list(request& current, const wire::empty_request& message);
void handle_sasl_auth(request& current, const wire::sasl_request& message);
void handle_sasl_step(request& current, const wire::sasl_request& message);
void handle_select_bucket(request& current, const wire::select_bucket_request& message);
void handle_error_map(request& current, const wire::get_error_map_request& message);
void handle_noop(request& current, const wire::empty_request& message);
void handle_quit(request& current, const wire::empty_request& message);
void handle_version(request& current, const wire::empty_request& message);
void handle_verbosity(request& current, const wire::verbosity_request& message);

// handlers_cluster.cpp
void handle_cluster_config(request& current, const wire::get_cluster_config_request& message);
void handle_manifest(request& current, const wire::empty_request& message);
void handle_collection_id(request& current, const wire::get_collection_id_request& message);
void handle_scope_id(request& current, const wire::get_scope_id_request& message);
void handle_stat(request& current, const wire::stat_request& message);

// handlers_read.cpp
void handle_get(request& current, const wire::document_request& message);
void handle_get_replica(request& current, const wire::document_request& message);
void handle_get_meta(request& current, const wire::get_meta_request& message);
void handle_observe(request& current, const wire::observe_request& message);
void handle_observe_seqno(request& current, const wire::observe_seqno_request& message);

// handlers_store.cpp
void handle_store(request& current, const wire::store_request& message);
void handle_concat(request& current, const wire::concat_request& message);
void handle_remove(request& current, const wire::document_request& message);
void handle_counter(request& current, const wire::counter_request& message);

// handlers_touch.cpp
void handle_touch(request& current, const wire::touch_request& message);
void handle_get_locked(request& current, const wire::get_locked_request& message);
void handle_unlock(request& current, const wire::document_request& message);

// handlers_subdoc.cpp
void handle_subdoc_single(request& current, const wire::subdoc_request& message);
void handle_subdoc_lookup(request& current, const wire::subdoc_lookup_request& message);
void handle_subdoc_mutation(request& current, const wire::subdoc_mutation_request& message);

// handlers_scan.cpp
void handle_scan_create(request& current, const wire::range_scan_create_request& message);
void handle_scan_continue(request& current, const wire::range_scan_continue_request& message);
void handle_scan_cancel(request& current, const wire::range_scan_cancel_request& message);

}  // namespace reprise::sandbox::detail
