#pragma once

/// The words of couchbase_types that the engine uses without their namespace.

#include <reprise/couchbase_types/cluster_options.hpp>
#include <reprise/couchbase_types/errc.hpp>
#include <reprise/couchbase_types/error_info.hpp>
#include <reprise/couchbase_types/operation_observer.hpp>
#include <reprise/couchbase_types/retry_reason.hpp>
#include <reprise/couchbase_types/retry_strategies.hpp>

namespace reprise::engine {

using couchbase::all_retry_reasons;
using couchbase::best_effort_strategy;
using couchbase::credentials;
using couchbase::decision_record;
using couchbase::errc;
using couchbase::error_info;
using couchbase::error_map_note;
using couchbase::fail_fast_on_terminal_error_strategy;
using couchbase::log_level;
using couchbase::log_sink;
using couchbase::operation_attempt;
using couchbase::operation_end;
using couchbase::operation_identity;
using couchbase::operation_observer;
using couchbase::operation_start;
using couchbase::reason_of;
using couchbase::request_of;
using couchbase::request_snapshot;
using couchbase::retry_reason;
using couchbase::retry_reason_count;
using couchbase::retry_reason_facts;
using couchbase::retry_reason_set;
using couchbase::server_backoff;
using couchbase::server_directed_strategy;
using couchbase::server_retry_rule;
using couchbase::service_budgets;

}  // namespace reprise::engine
