#include <array>

#include <reprise/engine/retry_reason.hpp>

namespace reprise::engine {
namespace {

// All five terminal reasons arise before anything was sent.
constexpr bool before_sending = true;

// Columns: reason, name, non-idempotent retry, always retry, terminal, meaning.
constexpr std::array<retry_reason_facts, retry_reason_count> reason_table{{
    {retry_reason::unknown, "UNKNOWN", false, false, false,
     "the failure could not be classified; it is never retried"},
    {retry_reason::socket_not_available, "SOCKET_NOT_AVAILABLE", true, false, false,
     "the connection to the node is not there or takes nothing more"},
    {retry_reason::service_not_available, "SERVICE_NOT_AVAILABLE", true, false, false,
     "no node of the cluster offers the service"},
    {retry_reason::node_not_available, "NODE_NOT_AVAILABLE", true, false, false,
     "the node is down, or the key has no owner right now"},
    {retry_reason::kv_not_my_vbucket, "KV_NOT_MY_VBUCKET", true, true, false,
     "the node that was asked does not own the key"},
    {retry_reason::kv_collection_outdated, "KV_COLLECTION_OUTDATED", true, true, false,
     "the server does not know the collection id that was used"},
    {retry_reason::kv_error_map_retry_indicated, "KV_ERROR_MAP_RETRY_INDICATED", true, false, false,
     "the server's error map says that this unknown status may be retried"},
    {retry_reason::kv_locked, "KV_LOCKED", true, false, false, "the document is locked"},
    {retry_reason::kv_temporary_failure, "KV_TEMPORARY_FAILURE", true, false, false,
     "the server could not do it at this moment"},
    {retry_reason::kv_sync_write_in_progress, "KV_SYNC_WRITE_IN_PROGRESS", true, false, false,
     "another durable write to the document is under way"},
    {retry_reason::kv_sync_write_re_commit_in_progress, "KV_SYNC_WRITE_RE_COMMIT_IN_PROGRESS", true,
     false, false, "a durable write to the document is being committed again"},
    {retry_reason::service_response_code_indicated, "SERVICE_RESPONSE_CODE_INDICATED", true, false,
     false, "the service flagged its error as retryable"},
    {retry_reason::socket_closed_while_in_flight, "SOCKET_CLOSED_WHILE_IN_FLIGHT", false, false,
     false, "the connection closed after the request was sent and before an answer came"},
    {retry_reason::circuit_breaker_open, "CIRCUIT_BREAKER_OPEN", true, false, false,
     "the circuit breaker of the endpoint is open"},
    {retry_reason::query_prepared_statement_failure, "QUERY_PREPARED_STATEMENT_FAILURE", true,
     false, false, "the prepared statement must be prepared again"},
    {retry_reason::query_index_not_found, "QUERY_INDEX_NOT_FOUND", true, false, false,
     "the index is not there yet"},
    {retry_reason::analytics_temporary_failure, "ANALYTICS_TEMPORARY_FAILURE", true, false, false,
     "the analytics service could not do it at this moment"},
    {retry_reason::search_too_many_requests, "SEARCH_TOO_MANY_REQUESTS", true, false, false,
     "the search service gets too many requests"},
    {retry_reason::views_temporary_failure, "VIEWS_TEMPORARY_FAILURE", true, false, false,
     "the view service could not do it at this moment"},
    {retry_reason::views_no_active_partition, "VIEWS_NO_ACTIVE_PARTITION", true, true, false,
     "the node has no active partition of the bucket"},
    {retry_reason::authentication_error, "AUTHENTICATION_ERROR", before_sending, false, true,
     "a node refused the credentials"},
    {retry_reason::tls_error, "TLS_ERROR", before_sending, false, true,
     "TLS with a node failed for a reason that waiting does not mend"},
    {retry_reason::bucket_access_error, "BUCKET_ACCESS_ERROR", before_sending, false, true,
     "the bucket does not exist or the user may not use it"},
    {retry_reason::scope_not_found, "SCOPE_NOT_FOUND", before_sending, false, true,
     "the scope does not exist"},
    {retry_reason::collection_not_found, "COLLECTION_NOT_FOUND", before_sending, false, true,
     "the collection does not exist"},
}};

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

}  // namespace reprise::engine
