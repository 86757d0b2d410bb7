#include <array>

#include <reprise/base/enum_table.hpp>
#include <reprise/couchbase_types/retry_reason.hpp>

namespace reprise::couchbase {
namespace {

// All five terminal reasons arise before anything is sent.
constexpr bool before_sending = true;

constexpr std::array<retry_reason_facts, retry_reason_count> reason_table{{
    {.reason = retry_reason::unknown,
     .name = "UNKNOWN",
     .meaning = "the failure could not be classified; it is never retried"},
    {.reason = retry_reason::socket_not_available,
     .name = "SOCKET_NOT_AVAILABLE",
     .allows_non_idempotent_retry = true,
     .is_about_connection = true,
     .meaning = "there is no connection to the node, or its queue is full"},
    {.reason = retry_reason::service_not_available,
     .name = "SERVICE_NOT_AVAILABLE",
     .allows_non_idempotent_retry = true,
     .is_about_connection = true,
     .meaning = "no node of the cluster offers the service"},
    {.reason = retry_reason::node_not_available,
     .name = "NODE_NOT_AVAILABLE",
     .allows_non_idempotent_retry = true,
     .is_about_connection = true,
     .meaning = "the node is down, or the key has no owner right now"},
    {.reason = retry_reason::kv_not_my_vbucket,
     .name = "KV_NOT_MY_VBUCKET",
     .allows_non_idempotent_retry = true,
     .always_retry = true,
     .meaning = "the node that was asked does not own the key"},
    {.reason = retry_reason::kv_collection_outdated,
     .name = "KV_COLLECTION_OUTDATED",
     .allows_non_idempotent_retry = true,
     .always_retry = true,
     .meaning = "the server does not know the collection id that was used"},
    {.reason = retry_reason::kv_error_map_retry_indicated,
     .name = "KV_ERROR_MAP_RETRY_INDICATED",
     .allows_non_idempotent_retry = true,
     .meaning = "the server's error map says that this unknown status may be retried"},
    {.reason = retry_reason::kv_locked,
     .name = "KV_LOCKED",
     .allows_non_idempotent_retry = true,
     .meaning = "the document is locked"},
    {.reason = retry_reason::kv_temporary_failure,
     .name = "KV_TEMPORARY_FAILURE",
     .allows_non_idempotent_retry = true,
     .meaning = "the server could not do it at this moment"},
    {.reason = retry_reason::kv_sync_write_in_progress,
     .name = "KV_SYNC_WRITE_IN_PROGRESS",
     .allows_non_idempotent_retry = true,
     .meaning = "another durable write to the document is under way"},
    {.reason = retry_reason::kv_sync_write_re_commit_in_progress,
     .name = "KV_SYNC_WRITE_RE_COMMIT_IN_PROGRESS",
     .allows_non_idempotent_retry = true,
     .meaning = "a durable write to the document is being committed again"},
    {.reason = retry_reason::service_response_code_indicated,
     .name = "SERVICE_RESPONSE_CODE_INDICATED",
     .allows_non_idempotent_retry = true,
     .services = "query search",
     .meaning = "the service flagged its error as retryable"},
    {.reason = retry_reason::socket_closed_while_in_flight,
     .name = "SOCKET_CLOSED_WHILE_IN_FLIGHT",
     .is_about_connection = true,
     .meaning = "the connection closed after the request was sent and before an answer came"},
    {.reason = retry_reason::circuit_breaker_open,
     .name = "CIRCUIT_BREAKER_OPEN",
     .allows_non_idempotent_retry = true,
     .is_about_connection = true,
     .meaning = "the circuit breaker of the endpoint is open"},
    {.reason = retry_reason::query_prepared_statement_failure,
     .name = "QUERY_PREPARED_STATEMENT_FAILURE",
     .allows_non_idempotent_retry = true,
     .services = "query",
     .meaning = "the prepared statement must be prepared again"},
    {.reason = retry_reason::query_index_not_found,
     .name = "QUERY_INDEX_NOT_FOUND",
     .allows_non_idempotent_retry = true,
     .services = "query",
     .meaning = "the index does not exist yet"},
    {.reason = retry_reason::analytics_temporary_failure,
     .name = "ANALYTICS_TEMPORARY_FAILURE",
     .allows_non_idempotent_retry = true,
     .services = "analytics",
     .meaning = "the analytics service could not do it at this moment"},
    {.reason = retry_reason::search_too_many_requests,
     .name = "SEARCH_TOO_MANY_REQUESTS",
     .allows_non_idempotent_retry = true,
     .is_throttling = true,
     .services = "search",
     .meaning = "the search service gets too many requests"},
    {.reason = retry_reason::views_temporary_failure,
     .name = "VIEWS_TEMPORARY_FAILURE",
     .allows_non_idempotent_retry = true,
     .services = "views",
     .meaning = "the view service could not do it at this moment"},
    {.reason = retry_reason::views_no_active_partition,
     .name = "VIEWS_NO_ACTIVE_PARTITION",
     .allows_non_idempotent_retry = true,
     .always_retry = true,
     .services = "views",
     .meaning = "the node has no active partition of the bucket"},
    {.reason = retry_reason::authentication_error,
     .name = "AUTHENTICATION_ERROR",
     .allows_non_idempotent_retry = before_sending,
     .is_terminal = true,
     .is_about_connection = true,
     .meaning = "a node refused the credentials"},
    {.reason = retry_reason::tls_error,
     .name = "TLS_ERROR",
     .allows_non_idempotent_retry = before_sending,
     .is_terminal = true,
     .is_about_connection = true,
     .meaning = "TLS with a node failed for a reason that waiting does not fix"},
    {.reason = retry_reason::bucket_access_error,
     .name = "BUCKET_ACCESS_ERROR",
     .allows_non_idempotent_retry = before_sending,
     .is_terminal = true,
     .is_about_connection = true,
     .meaning = "the bucket does not exist or the user may not use it"},
    {.reason = retry_reason::scope_not_found,
     .name = "SCOPE_NOT_FOUND",
     .allows_non_idempotent_retry = before_sending,
     .is_terminal = true,
     .meaning = "the scope does not exist"},
    {.reason = retry_reason::collection_not_found,
     .name = "COLLECTION_NOT_FOUND",
     .allows_non_idempotent_retry = before_sending,
     .is_terminal = true,
     .meaning = "the collection does not exist"},
}};
static_assert(base::has_row_per_enumerator(reason_table, &retry_reason_facts::reason));

}  // namespace

const retry_reason_facts& info(retry_reason reason) noexcept {
    const auto index = static_cast<std::size_t>(reason);
    return index < reason_table.size() ? reason_table[index] : reason_table[0];
}

std::span<const retry_reason_facts> all_retry_reasons() noexcept {
    return reason_table;
}

std::string_view to_string(retry_reason reason) noexcept {
    return info(reason).name;
}

}  // namespace reprise::couchbase
