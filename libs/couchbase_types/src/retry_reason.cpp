#include <array>

#include <reprise/base/enum_table.hpp>
#include <reprise/couchbase_types/errc.hpp>
#include <reprise/couchbase_types/retry_reason.hpp>

namespace reprise::couchbase {
namespace {

// All five terminal reasons arise before anything is sent.
constexpr bool before_sending = true;

constexpr std::array<retry_reason_facts, retry_reason_count> reason_table{{
    {.reason = retry_reason::unknown,
     .name = "UNKNOWN",
     .meaning = "the failure could not be classified; it is never retried",
     .advice = "Read the error message; the client did not retry."},
    {.reason = retry_reason::socket_not_available,
     .name = "SOCKET_NOT_AVAILABLE",
     .allows_non_idempotent_retry = true,
     .is_about_connection = true,
     .meaning = "there is no connection to the node, or its queue is full",
     .advice = "Nothing, if it goes away: the client is connecting. If it persists, check the "
               "node and the network."},
    {.reason = retry_reason::service_not_available,
     .name = "SERVICE_NOT_AVAILABLE",
     .allows_non_idempotent_retry = true,
     .is_about_connection = true,
     .meaning = "no node of the cluster offers the service",
     .advice = "Check that a node of this cluster runs the service, and check the network you "
               "chose."},
    {.reason = retry_reason::node_not_available,
     .name = "NODE_NOT_AVAILABLE",
     .allows_non_idempotent_retry = true,
     .is_about_connection = true,
     .meaning = "the node is down, or the key has no owner right now",
     .advice = "Nothing during a failover. If it persists, fail the node over or bring it back."},
    {.reason = retry_reason::kv_not_my_vbucket,
     .name = "KV_NOT_MY_VBUCKET",
     .allows_non_idempotent_retry = true,
     .always_retry = true,
     .meaning = "the node that was asked does not own the key",
     .advice = "Nothing: this is normal during a rebalance; the client already has the new map."},
    {.reason = retry_reason::kv_collection_outdated,
     .name = "KV_COLLECTION_OUTDATED",
     .allows_non_idempotent_retry = true,
     .always_retry = true,
     .meaning = "the collection id that was used is unknown to the server",
     .advice = "Nothing: the collection was recreated or moved; the client requests its id again."},
    {.reason = retry_reason::kv_error_map_retry_indicated,
     .name = "KV_ERROR_MAP_RETRY_INDICATED",
     .allows_non_idempotent_retry = true,
     .meaning = "the server's error map allows a retry of this unknown status",
     .advice = "Look at the name in the error map; according to the server, waiting helps. "
               "server_directed_strategy waits as long as the server specifies."},
    {.reason = retry_reason::kv_locked,
     .name = "KV_LOCKED",
     .allows_non_idempotent_retry = true,
     .meaning = "the document is locked",
     .advice = "Unlock sooner, or lock for a shorter time. If the lock's holder has crashed, the "
               "lock expires after 30 s at the latest."},
    {.reason = retry_reason::kv_temporary_failure,
     .name = "KV_TEMPORARY_FAILURE",
     .allows_non_idempotent_retry = true,
     .meaning = "the server refused the request because of a temporary problem",
     .advice = "If it is frequent, the node is short of memory or disk: check its statistics. A "
               "retry budget keeps many clients from making it worse."},
    {.reason = retry_reason::kv_sync_write_in_progress,
     .name = "KV_SYNC_WRITE_IN_PROGRESS",
     .allows_non_idempotent_retry = true,
     .meaning = "another durable write to the document is under way",
     .advice = "Nothing, if it goes away. If it is frequent, several writers write the same "
               "document durably: spread the writes."},
    {.reason = retry_reason::kv_sync_write_re_commit_in_progress,
     .name = "KV_SYNC_WRITE_RE_COMMIT_IN_PROGRESS",
     .allows_non_idempotent_retry = true,
     .meaning = "a durable write to the document is being committed again",
     .advice = "Nothing: a node was failed over and its successor completes pending writes."},
    {.reason = retry_reason::service_response_code_indicated,
     .name = "SERVICE_RESPONSE_CODE_INDICATED",
     .allows_non_idempotent_retry = true,
     .services = "query search",
     .meaning = "the service flagged its error as retryable",
     .advice = "Look at the service's error; the service reported that a retry may help."},
    {.reason = retry_reason::socket_closed_while_in_flight,
     .name = "SOCKET_CLOSED_WHILE_IN_FLIGHT",
     .is_about_connection = true,
     .meaning = "the connection closed after the request was sent and before an answer came",
     .advice = "The client repeats reads. A write fails as ambiguous: read the document, then "
               "decide; or write with a CAS so that writing twice does no harm."},
    {.reason = retry_reason::circuit_breaker_open,
     .name = "CIRCUIT_BREAKER_OPEN",
     .allows_non_idempotent_retry = true,
     .is_about_connection = true,
     .meaning = "the circuit breaker of the endpoint is open",
     .advice = "The endpoint failed too often recently; the client probes it in the background."},
    {.reason = retry_reason::query_prepared_statement_failure,
     .name = "QUERY_PREPARED_STATEMENT_FAILURE",
     .allows_non_idempotent_retry = true,
     .services = "query",
     .meaning = "the prepared statement must be prepared again",
     .advice = "Nothing: the client prepares the statement again."},
    {.reason = retry_reason::query_index_not_found,
     .name = "QUERY_INDEX_NOT_FOUND",
     .allows_non_idempotent_retry = true,
     .services = "query",
     .meaning = "the index does not exist yet",
     .advice = "Wait until the index is built, or create it."},
    {.reason = retry_reason::analytics_temporary_failure,
     .name = "ANALYTICS_TEMPORARY_FAILURE",
     .allows_non_idempotent_retry = true,
     .services = "analytics",
     .meaning = "the analytics service refused the request because of a temporary problem",
     .advice = "Nothing, if it goes away: the service is starting or busy."},
    {.reason = retry_reason::search_too_many_requests,
     .name = "SEARCH_TOO_MANY_REQUESTS",
     .allows_non_idempotent_retry = true,
     .is_throttling = true,
     .services = "search",
     .meaning = "the search service receives too many requests",
     .advice = "Send fewer searches at once, or give the service more memory."},
    {.reason = retry_reason::views_temporary_failure,
     .name = "VIEWS_TEMPORARY_FAILURE",
     .allows_non_idempotent_retry = true,
     .services = "views",
     .meaning = "the view service refused the request because of a temporary problem",
     .advice = "Nothing, if it goes away; otherwise check the node."},
    {.reason = retry_reason::views_no_active_partition,
     .name = "VIEWS_NO_ACTIVE_PARTITION",
     .allows_non_idempotent_retry = true,
     .always_retry = true,
     .services = "views",
     .meaning = "the node has no active partition of the bucket",
     .advice = "Nothing: the client tries another node."},
    {.reason = retry_reason::authentication_error,
     .name = "AUTHENTICATION_ERROR",
     .allows_non_idempotent_retry = before_sending,
     .terminal_error = errc::authentication_failure,
     .is_about_connection = true,
     .meaning = "a node refused the credentials",
     .advice = "Check the user name and the password. The client notices a fix without a restart."},
    {.reason = retry_reason::tls_error,
     .name = "TLS_ERROR",
     .allows_non_idempotent_retry = before_sending,
     .terminal_error = errc::tls_failure,
     .is_about_connection = true,
     .meaning = "TLS with a node failed for a reason that waiting does not fix",
     .advice = "Check the trusted certificate (tls.ca_file), the host name in the connection "
               "string and the certificate's validity dates."},
    {.reason = retry_reason::bucket_access_error,
     .name = "BUCKET_ACCESS_ERROR",
     .allows_non_idempotent_retry = before_sending,
     .terminal_error = errc::bucket_access_failure,
     .is_about_connection = true,
     .meaning = "the bucket does not exist or the user may not use it",
     .advice = "Check the bucket's name, and that the user may read and write its data."},
    {.reason = retry_reason::scope_not_found,
     .name = "SCOPE_NOT_FOUND",
     .allows_non_idempotent_retry = before_sending,
     .terminal_error = errc::scope_not_found,
     .meaning = "the scope does not exist",
     .advice = "Create the scope, or correct its name."},
    {.reason = retry_reason::collection_not_found,
     .name = "COLLECTION_NOT_FOUND",
     .allows_non_idempotent_retry = before_sending,
     .terminal_error = errc::collection_not_found,
     .meaning = "the collection does not exist",
     .advice = "Create the collection, or correct its name."},
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
