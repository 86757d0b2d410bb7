#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <reprise/couchbase_types/errc.hpp>
#include <reprise/engine/retry_reason.hpp>
#include <reprise/retry/retry_history.hpp>

// Where the client says what it does. Needs the standard library and reprise::retry only; part of
// the vocabulary that users see.

namespace reprise::engine {

using couchbase::errc;

enum class log_level : std::uint8_t { debug, info, warn, error };

[[nodiscard]] std::string_view to_string(log_level level) noexcept;

// One retry decision, in plain values; views are valid during the call only.
struct decision_record {
    std::string_view operation;  // "get"
    retry_reason reason = retry_reason::unknown;
    attempt_stage stage = attempt_stage::dispatch;
    std::uint32_t attempt = 0;  // retries made before
    bool is_retried = false;
    duration delay{};                               // meaningful if retried
    errc error{};                                   // meaningful if not retried
    refusal_reason refusal = refusal_reason::none;  // likewise: why
    std::uint16_t status = 0;                       // 0 without an answer
    std::string_view endpoint;                      // "host:port"; empty if none was chosen
    std::string_view key;                           // empty unless engine_options::log_keys
    std::uint64_t id = 0;  // as attempt_record::operation; 0: the client's own request
};

// "get retried in 10 ms: KV_NOT_MY_VBUCKET (attempt 1, 10.0.0.1:11210)"
[[nodiscard]] std::string to_string(const decision_record& record);

// Called from inside the engine, on its thread; must return soon, must not throw, and must not
// call the engine. Credentials and documents are never passed; keys only if asked for.
class log_sink {
public:
    virtual ~log_sink();
    // Every decision. Retried: debug. Not retried: warn. Fewer only if
    // engine_options::log_decisions_per_second_max says so.
    virtual void on_decision(log_level level, const decision_record& record) noexcept = 0;
    // Connections, configurations and everything else worth a line; with a limit also sums such as
    // "KV_TEMPORARY_FAILURE: 4812 more decisions in 1 s".
    virtual void on_message(log_level level, std::string_view text) noexcept = 0;
};

}  // namespace reprise::engine
