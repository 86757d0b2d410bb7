#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <reprise/couchbase_types/errc.hpp>
#include <reprise/couchbase_types/retry_reason.hpp>
#include <reprise/retry/retry_history.hpp>

namespace reprise::couchbase {

/// How important a line of the log is.
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

/// Where the client reports what it does. Called on a thread of the client, by several at once if
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

}  // namespace reprise::couchbase
