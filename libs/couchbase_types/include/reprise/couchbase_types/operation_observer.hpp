#pragma once

/// The reports of a client: the lines of a log (`cluster_options::log`), and events of its
/// operations.
///
/// Observing the operations of a client: `cluster_options::operation_observers`. Ready-made ones
/// are `client_metrics` (counters, slow operations) and `operation_tracing` (spans).
///
/// ```
/// on_start -> [ on_attempt... -> on_decision ]... -> on_attempt... -> on_end
/// ```
///
/// An attempt that fails before it is sent has a decision but no `on_attempt`. One that takes
/// several requests (a scan; a statement that is prepared, then executed) has one for each. Views
/// are valid only during the call.
///
/// A call of the API may be several operations: reads of replicas are one for each copy. Once
/// `get_any_replica` or `lookup_in_any_replica` has its copy, it cancels the reads of the others.
/// These end with `errc::request_canceled`, so observers count them as failures and trace them as
/// errors although the call succeeds.

#include <any>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>

#include <reprise/couchbase_types/errc.hpp>
#include <reprise/couchbase_types/retry_reason.hpp>
#include <reprise/retry/retry_history.hpp>
#include <reprise/retry/time.hpp>

namespace reprise::couchbase {

/// The importance of a line of the log.
enum class log_level : std::uint8_t { debug, info, warn, error };

/// Returns the enumerator's name.
[[nodiscard]] std::string_view to_string(log_level level) noexcept;

/// One retry decision in plain values. Views are valid only during the call.
struct decision_record {
    std::string_view operation;  ///< "get"
    retry_reason reason = retry_reason::unknown;
    driver::attempt_stage stage = driver::attempt_stage::dispatch;
    std::uint32_t attempt = 0;  ///< Retries made before.
    bool is_retried = false;
    duration delay{};                               ///< Meaningful if retried.
    errc error{};                                   ///< Meaningful if not retried.
    refusal_reason refusal = refusal_reason::none;  ///< Why it is not retried.
    std::uint16_t status = 0;                       ///< 0 without an answer.
    std::string_view endpoint;                      ///< "host:port"; empty if none was chosen.
    std::string_view key;  ///< Empty unless `cluster_options::log_keys` is set.
    std::uint64_t id = 0;  ///< As `operation_identity::id`; 0: the client's own request.
};

/// "get retried in 10 ms: KV_NOT_MY_VBUCKET (attempt 1, 10.0.0.1:11210)"
[[nodiscard]] std::string to_string(const decision_record& record);

/// Takes the client's reports. Called on a thread of the client, by several at once if
/// `cluster_options::io_threads` is above 1; must return soon, must not throw, and must not call
/// the client. Credentials and documents are never passed, keys only if asked for.
class log_sink {
public:
    virtual ~log_sink();
    /// Every decision. The level is `debug` if retried, otherwise `warn`. There are fewer calls
    /// only if `cluster_options::log_decisions_per_second_max` is set.
    virtual void on_decision(log_level level, const decision_record& record) noexcept = 0;
    /// Connections, configurations and everything else worth a line. With a limit on decisions
    /// also sums such as "KV_TEMPORARY_FAILURE: 4812 more decisions in 1 s".
    virtual void on_message(log_level level, std::string_view text) noexcept = 0;
};

/// Identifies the operation.
struct operation_identity {
    std::uint64_t client = 0;      ///< One number for each client.
    std::uint64_t id = 0;          ///< Unique among the open operations of that client.
    std::string_view service{};    ///< "kv", "query", "analytics", "search", "views", "mgmt".
    std::string_view operation{};  ///< "get"; static text.
};

/// The client begins to work on an operation.
struct operation_start {
    operation_identity which{};
    std::string_view bucket{};  ///< Empty for requests to the whole cluster.
    /// The caller's data from the options of the operation; null if none.
    const std::any* user_data = nullptr;
};

/// A request of the operation is passed to a connection. The numbers of client and connection are
/// also in HELLO, and the opaque is in the request itself, so that a server which keeps a log
/// identifies a key-value attempt by the same three numbers. Duplicates and losses are counted by
/// them.
struct operation_attempt {
    operation_identity which{};
    std::uint32_t retries = 0;     ///< Made before.
    std::string_view endpoint{};   ///< "host:port"
    std::uint64_t connection = 0;  ///< One number for each connection of a client.
    std::uint32_t opaque = 0;      ///< 0 for HTTP.
    bool is_idempotent = false;    ///< May be sent again without an answer.
    /// Not the first request of its attempt: the one before was answered, or never left the client.
    bool is_continued = false;
    time_point sent{};  ///< Steady time of the loop iteration that encoded it.
};

/// The result is passed to the caller next.
struct operation_end {
    operation_identity which{};
    std::error_code error{};  ///< Empty after a success.
    std::uint32_t retries = 0;
    /// Of the last retry or refusal; `unknown` without any.
    retry_reason last_reason = retry_reason::unknown;
    time_point ended{};           ///< Steady time of the loop iteration.
    duration total_time{};        ///< Since `on_start`, all attempts and waits included.
    std::string_view endpoint{};  ///< Of the last attempt; empty if none was chosen.
};

/// An answer to a request that had already ended, for example at its timeout.
struct orphan_record {
    std::string_view operation{};  ///< What the request asked for: "GET".
    std::string_view endpoint{};   ///< The node that answered.
};

/// Called on the client's threads or on that of a blocked caller, by several at once if
/// `cluster_options::io_threads` is above 1: must return soon, must not throw, and must not call
/// the client. Each function does nothing unless overridden.
class operation_observer {
public:
    virtual ~operation_observer();
    virtual void on_start(const operation_start& record) noexcept;
    virtual void on_attempt(const operation_attempt& record) noexcept;
    /// Every decision about a failed attempt, whatever limit the log has. `record.id` is 0 for the
    /// client's own requests.
    virtual void on_decision(
        const operation_identity& which, const decision_record& record) noexcept;
    virtual void on_end(const operation_end& record) noexcept;
    virtual void on_orphan(const orphan_record& record) noexcept;
};

}  // namespace reprise::couchbase
