#include "explain/table.hpp"

#include <array>

#include <reprise/base/enum_table.hpp>

namespace reprise::app {

namespace {

using couchbase::retry_reason;

template <class Name>
struct advice_row {
    Name name;
    std::string_view text;
};

template <class Name, std::size_t Count>
[[nodiscard]] std::string_view find_advice(
    const std::array<advice_row<Name>, Count>& table, Name name) noexcept {
    for (const auto& row : table) {
        if (row.name == name) {
            return row.text;
        }
    }
    return {};
}

using reason_row = advice_row<retry_reason>;
constexpr std::array reason_advice{
    reason_row{retry_reason::unknown, "Read the error message; the client did not retry."},
    reason_row{
        retry_reason::socket_not_available,
        "Nothing, if it goes away: the client is connecting. If it persists, check the node and "
        "the network."},
    reason_row{
        retry_reason::service_not_available,
        "Check that a node of this cluster runs the service, and check the network you chose."},
    reason_row{
        retry_reason::node_not_available,
        "Nothing during a failover. If it persists, fail the node over or bring it back."},
    reason_row{
        retry_reason::kv_not_my_vbucket,
        "Nothing: this is normal during a rebalance; the client already has the new map."},
    reason_row{
        retry_reason::kv_collection_outdated,
        "Nothing: the collection was recreated or moved; the client requests its id again."},
    reason_row{
        retry_reason::kv_error_map_retry_indicated,
        "Look at the name in the error map; the server says that waiting helps. "
        "server_directed_strategy waits as long as the server specifies."},
    reason_row{
        retry_reason::kv_locked,
        "Unlock sooner, or lock for a shorter time. If the lock's holder has crashed, the lock "
        "expires after 30 s at the latest."},
    reason_row{
        retry_reason::kv_temporary_failure,
        "If it is frequent, the node is short of memory or disk: check its statistics. A retry "
        "budget keeps many clients from making it worse."},
    reason_row{
        retry_reason::kv_sync_write_in_progress,
        "Nothing, if it goes away. If it is frequent, several writers write the same document "
        "durably: spread the writes."},
    reason_row{
        retry_reason::kv_sync_write_re_commit_in_progress,
        "Nothing: a node was failed over and its successor completes pending writes."},
    reason_row{
        retry_reason::service_response_code_indicated,
        "Look at the service's error; the service reported that a retry may help."},
    reason_row{
        retry_reason::socket_closed_while_in_flight,
        "The client repeats reads. A write fails as ambiguous: read the document, then "
        "decide; or write with a CAS so that writing twice does no harm."},
    reason_row{
        retry_reason::circuit_breaker_open,
        "The endpoint failed too often recently; the client probes it in the background."},
    reason_row{
        retry_reason::query_prepared_statement_failure,
        "Nothing: the client prepares the statement again."},
    reason_row{retry_reason::query_index_not_found, "Wait until the index is built, or create it."},
    reason_row{
        retry_reason::analytics_temporary_failure,
        "Nothing, if it goes away: the service is starting or busy."},
    reason_row{
        retry_reason::search_too_many_requests,
        "Send fewer searches at once, or give the service more memory."},
    reason_row{
        retry_reason::views_temporary_failure,
        "Nothing, if it goes away; otherwise check the node."},
    reason_row{retry_reason::views_no_active_partition, "Nothing: the client tries another node."},
    reason_row{
        retry_reason::authentication_error,
        "Check the user name and the password. The client notices a fix without a restart."},
    reason_row{
        retry_reason::tls_error,
        "Check the trusted certificate (tls.ca_file), the host name in the connection string and "
        "the certificate's validity dates."},
    reason_row{
        retry_reason::bucket_access_error,
        "Check the bucket's name, and that the user may read and write its data."},
    reason_row{retry_reason::scope_not_found, "Create the scope, or correct its name."},
    reason_row{retry_reason::collection_not_found, "Create the collection, or correct its name."},
};
static_assert(base::has_row_per_enumerator(reason_advice, &reason_row::name));

constexpr std::array strategies{
    strategy_facts{
        "fail_fast_on_terminal_error_strategy",
        "The default. Retries what is safe to repeat until the timeout; fails at once with "
        "a clear error if only a person can help: wrong credentials, failed TLS, no access to "
        "the bucket, unknown scope or collection.",
        "1, 2, 4, ... 256, 500 ms",
        "Keep it unless you have a reason not to. Later versions may add terminal reasons: "
        "if you need fixed behaviour, copy the class; it uses only public headers."},
    strategy_facts{
        "best_effort_strategy",
        "Retries what is safe to repeat until the timeout, the five terminal reasons "
        "included.",
        "1, 2, 4, ... 256, 500 ms, or any calculator you pass to it",
        "For programs that must survive a wrong password or a bucket created later. Derive from "
        "it, handle your reasons, and call it for all others."},
    strategy_facts{
        "server_directed_strategy",
        "Like the default, but retries a status that only the server's error map explains at the "
        "times that the server specifies.",
        "the error map's rule (constant, linear or exponential); otherwise like the default",
        "For servers whose error maps carry rules that you trust."},
    strategy_facts{
        "virtual_strategy<standard_strategy>",
        "Uses any strategy of the retry library (budgets, jitter, limits on attempts) as the "
        "strategy of a client or of a call.",
        "exponential with jitter, by its own options",
        "For sharing one budget between the client and other calls of a program."},
};

}  // namespace

std::string_view advice_on(retry_reason reason) noexcept {
    return find_advice(reason_advice, reason);
}

std::vector<couchbase::errc> all_errors() {
    std::vector<couchbase::errc> found;
    for (int number = 1; number < 1300; ++number) {
        const auto error = static_cast<couchbase::errc>(number);
        if (to_string(error) != "unknown_error") {
            found.push_back(error);
        }
    }
    return found;
}

std::span<const strategy_facts> all_strategies() noexcept {
    return strategies;
}

}  // namespace reprise::app
