#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace reprise::couchbase {

enum class errc : int;

/// Why an operation may have to be retried: RFC 0049's list.
enum class retry_reason : std::uint8_t {
    unknown,                              ///< cannot be classified: never retried
    socket_not_available,                 ///< no connection to the node, or its queue is full
    service_not_available,                ///< no node offers the service
    node_not_available,                   ///< the node is down, or the key has no owner right now
    kv_not_my_vbucket,                    ///< answered by a node that does not own the key
    kv_collection_outdated,               ///< the cached collection id is unknown to the server
    kv_error_map_retry_indicated,         ///< unknown status with a retry rule in the error map
    kv_locked,                            ///< the document is locked
    kv_temporary_failure,                 ///< the server is short of something for a moment
    kv_sync_write_in_progress,            ///< another durable write holds the document
    kv_sync_write_re_commit_in_progress,  ///< a durable write is being committed again
    service_response_code_indicated,      ///< an HTTP service flagged its error as retryable
    socket_closed_while_in_flight,        ///< sent, and the connection closed before an answer
    circuit_breaker_open,                 ///< the endpoint's breaker lets nothing through
    query_prepared_statement_failure,     ///< the prepared statement must be prepared again
    query_index_not_found,                ///< the index does not exist yet
    analytics_temporary_failure,          ///< analytics is busy or starting
    search_too_many_requests,             ///< HTTP 429 from search
    views_temporary_failure,              ///< transient view error
    views_no_active_partition,            ///< the node has no partition of the view
    authentication_error,                 ///< terminal: a node refused the credentials
    tls_error,                            ///< terminal: the TLS handshake failed for good
    bucket_access_error,                  ///< terminal: no such bucket, or no access to it
    scope_not_found,                      ///< terminal: the scope does not exist
    collection_not_found,                 ///< terminal: the collection does not exist
};

/// The number of reasons; the table of the facts refuses to compile if this is not the last one.
inline constexpr std::size_t retry_reason_count =
    static_cast<std::size_t>(retry_reason::collection_not_found) + 1;

/// Properties of a reason.
struct retry_reason_facts {
    retry_reason reason{};
    /// The RFC's spelling: "KV_NOT_MY_VBUCKET".
    std::string_view name;
    /// A non-idempotent operation may be sent again: the server did nothing, or never saw it.
    bool allows_non_idempotent_retry = false;
    /// Retried by the client itself with the controlled backoff; no strategy is asked.
    bool always_retry = false;
    /// The error of a state that lasts until a person changes something; empty if it may end by
    /// itself. The default strategy fails with it at once.
    std::optional<errc> terminal_error{};
    /// True if the way to a node failed, false if a node answered: a new connection, or another
    /// node, may end the cause early.
    bool is_about_connection = false;
    /// The server asks clients to send less: `failure_facts::throttling`.
    bool is_throttling = false;
    /// The services whose answers alone can mean it: "query search". Empty: any part of a cluster.
    std::string_view services{};
    /// One sentence for people.
    std::string_view meaning;
    /// Advice: the action that a person can take, in a sentence or two.
    std::string_view advice;

    /// Whether it is one of the five states that only a person can end.
    [[nodiscard]] constexpr bool is_terminal() const noexcept { return terminal_error.has_value(); }
};

/// Values outside the list give the facts of `unknown`.
[[nodiscard]] const retry_reason_facts& info(retry_reason reason) noexcept;
/// The whole table, in the order of the enumeration.
[[nodiscard]] std::span<const retry_reason_facts> all_retry_reasons() noexcept;
/// "KV_NOT_MY_VBUCKET"
[[nodiscard]] std::string_view to_string(retry_reason reason) noexcept;

/// A set of reasons in one word.
class retry_reason_set {
public:
    constexpr retry_reason_set() noexcept = default;
    constexpr void insert(retry_reason reason) noexcept { bits_ |= bit(reason); }
    [[nodiscard]] constexpr bool contains(retry_reason reason) const noexcept {
        return (bits_ & bit(reason)) != 0;
    }
    [[nodiscard]] constexpr bool empty() const noexcept { return bits_ == 0; }
    [[nodiscard]] constexpr std::size_t size() const noexcept {
        return static_cast<std::size_t>(std::popcount(bits_));
    }
    friend constexpr bool operator==(retry_reason_set, retry_reason_set) noexcept = default;

private:
    static constexpr std::uint32_t bit(retry_reason reason) noexcept {
        return std::uint32_t{1} << static_cast<unsigned>(reason);
    }
    std::uint32_t bits_ = 0;
};

}  // namespace reprise::couchbase
