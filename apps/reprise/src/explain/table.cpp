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
    reason_row{retry_reason::unknown, "Read the error's message; nothing was repeated."},
    reason_row{
        retry_reason::socket_not_available,
        "Nothing, if it passes: a connection is being made. If it lasts, look at the node and at "
        "the network between."},
    reason_row{
        retry_reason::service_not_available,
        "Check that the service runs on a node of this cluster, and the network you chose."},
    reason_row{
        retry_reason::node_not_available,
        "Nothing during a failover. If it lasts, fail the node over or bring it back."},
    reason_row{
        retry_reason::kv_not_my_vbucket,
        "Nothing: normal while a cluster is rebalanced; the map has already been renewed."},
    reason_row{
        retry_reason::kv_collection_outdated,
        "Nothing: the collection was made anew or moved; its id is asked for again."},
    reason_row{
        retry_reason::kv_error_map_retry_indicated,
        "Look at the name the error map gives; the server says that waiting helps. "
        "server_directed_strategy waits as the server planned."},
    reason_row{
        retry_reason::kv_locked,
        "Unlock sooner, or lock for a shorter time. Whoever holds the lock may have died: it ends "
        "by itself after 30 s at the latest."},
    reason_row{
        retry_reason::kv_temporary_failure,
        "If it is frequent, the node is short of memory or disk: look at its statistics. A retry "
        "budget keeps many clients from making it worse."},
    reason_row{
        retry_reason::kv_sync_write_in_progress,
        "Nothing, if it passes. If it is frequent, several writers want the same document "
        "durably: spread them."},
    reason_row{
        retry_reason::kv_sync_write_re_commit_in_progress,
        "Nothing: a node was failed over and finishes what was begun."},
    reason_row{
        retry_reason::service_response_code_indicated,
        "Look at the service's error; it said itself that a retry may help."},
    reason_row{
        retry_reason::socket_closed_while_in_flight,
        "Reads are repeated by themselves. A write ends as ambiguous: read the document, then "
        "decide; or write with a CAS so that a second time does no harm."},
    reason_row{
        retry_reason::circuit_breaker_open,
        "The endpoint failed too often a moment ago; it is probed in the background."},
    reason_row{
        retry_reason::query_prepared_statement_failure,
        "Nothing: the statement is prepared again."},
    reason_row{retry_reason::query_index_not_found, "Wait until the index is built, or make it."},
    reason_row{
        retry_reason::analytics_temporary_failure,
        "Nothing, if it passes: the service starts or is busy."},
    reason_row{
        retry_reason::search_too_many_requests,
        "Send fewer searches at once, or give the service more memory."},
    reason_row{
        retry_reason::views_temporary_failure, "Nothing, if it passes; else look at the node."},
    reason_row{retry_reason::views_no_active_partition, "Nothing: another node is asked."},
    reason_row{
        retry_reason::authentication_error,
        "Check user name and password. A later fix on the server is noticed without a restart."},
    reason_row{
        retry_reason::tls_error,
        "Check the trusted certificate (tls.ca_file), the host name in the connection string and "
        "the certificate's dates."},
    reason_row{
        retry_reason::bucket_access_error,
        "Check the bucket's name, and that the user may read and write its data."},
    reason_row{retry_reason::scope_not_found, "Make the scope, or correct its name."},
    reason_row{retry_reason::collection_not_found, "Make the collection, or correct its name."},
};
static_assert(base::has_row_per_enumerator(reason_advice, &reason_row::name));

constexpr std::array strategies{
    strategy_facts{
        "fail_fast_on_terminal_error_strategy",
        "The default. Retries whatever may be repeated safely until the timeout; ends at once with "
        "a clear error where only a person can help: wrong credentials, failed TLS, no access to "
        "the bucket, unknown scope or collection.",
        "1, 2, 4, ... 256, 500 ms",
        "Leave it unless you know better. What it counts as terminal may grow with new servers: "
        "if you need fixed behaviour, copy the class; it needs the public headers only."},
    strategy_facts{
        "best_effort_strategy",
        "Retries whatever may be repeated safely until the timeout, the five terminal reasons "
        "included.",
        "1, 2, 4, ... 256, 500 ms, or any calculator given to it",
        "For programs that must outlive a wrong password or a bucket that comes later. Derive from "
        "it, handle your reasons, and call it for the rest."},
    strategy_facts{
        "server_directed_strategy",
        "As the default, but a status that only the server's error map explains is retried at the "
        "times the server planned.",
        "the error map's rule (constant, linear or exponential); otherwise as the default",
        "For servers whose error maps carry rules that you trust."},
    strategy_facts{
        "virtual_strategy<standard_strategy>",
        "Any strategy of the retry library (budgets, jitter, limits on attempts) serves as the "
        "strategy of a client or of a call.",
        "exponential with jitter, by its own options",
        "To share one budget between the client and the other calls of a program."},
};

}  // namespace

std::string_view advice_on(retry_reason reason) noexcept {
    return find_advice(reason_advice, reason);
}

std::vector<couchbase::errc> all_errors() {
    std::vector<couchbase::errc> found;
    for (int number = 1; number < 1200; ++number) {
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
