#pragma once

#include <any>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/engine/row_batch.hpp>
#include <reprise/engine/vocabulary.hpp>
#include <reprise/http/message.hpp>
#include <reprise/retry/allowance.hpp>
#include <reprise/retry/retry_strategy.hpp>
#include <reprise/wire/cluster_node.hpp>

namespace reprise::wire {
class cluster_configuration;
}

namespace reprise::engine {

// One HTTP request as it is sent. Host, lengths, connection and authorization are the engine's.
struct http_call {
    std::string method = "POST";
    std::string target = "/";    // path and query, percent-encoded
    std::string content_type{};  // empty: no header
    http::header_list headers{};
    std::string body{};
    // The array in the answer whose elements are passed on one by one as they arrive. Empty: the
    // answer is kept whole, up to http_request::body_size_max_bytes.
    std::string rows_member{};
    // This request changes nothing, even if the whole operation does (for example, it prepares a
    // statement). It may be sent again without an answer, and losing it is not ambiguous.
    bool is_harmless = false;
    // Set by the engine before `compose`: the cluster's configuration, valid during the call. Null
    // if it is not known yet.
    const wire::cluster_configuration* cluster = nullptr;
};

// A complete answer. The views are valid during the call only.
struct http_answer {
    int status = 0;
    const http::header_list& headers;
    // The body. If rows were passed on, it is a JSON object without them.
    std::string_view body{};
    std::uint64_t row_count = 0;
};

// The meaning of an answer.
struct exchange_result {
    enum class step : std::uint8_t {
        done,    // success
        failed,  // the operation ends with `error`
        retry,   // the retry decider decides; if it refuses, the operation ends with `error`
        next,    // a part is done: compose the next request and send it now
    };
    step what = step::done;
    errc error = errc::internal_server_failure;
    retry_reason reason = retry_reason::unknown;
    // Unless the answer proves the opposite, a failed request may have been executed, whole or in
    // part. If it may change data, it is never sent again, and its error is ambiguous.
    bool may_have_acted = true;
    // The shortest delay before a retry (Retry-After). Zero if the server did not ask for one.
    duration delay_floor{};
    std::uint32_t server_code = 0;  // the service's own code; 0: none
    std::string server_text{};      // the service's own message
};

// How one operation talks to a service: it composes the requests and judges the answers. Each
// operation owns its exchange. An exchange does no I/O and is called on the engine's thread.
class http_exchange {
public:
    virtual ~http_exchange();
    // Fills in the next request: before the first attempt, each retry and each further part.
    virtual void compose(http_call& call) = 0;
    // Judges a complete answer to the last composed request. Must not throw.
    [[nodiscard]] virtual exchange_result judge(const http_answer& answer) = 0;
};

// A request to an HTTP service. Moved into the engine, which keeps it until the operation ends.
struct http_request {
    wire::service service = wire::service::query;
    std::string operation = "query";  // for logs and errors
    std::string statement{};          // for errors only; never logged
    std::string context_id{};         // identifies the operation in the server's log
    bool is_idempotent = false;
    // Only nodes of this bucket's configuration are used (views). Empty: any node.
    std::string bucket{};
    // Only this node is used: "host:port". Empty: any node.
    std::string node{};
    std::unique_ptr<http_exchange> exchange{};
    // Bound of the rows that wait to be taken: reading stops above it and resumes when rows are
    // taken.
    std::size_t rows_size_max_bytes = std::size_t{1024} * 1024;
    // The largest single row, and the largest answer without rows, in bytes.
    std::size_t row_size_max_bytes = std::size_t{20} * 1024 * 1024;
    std::size_t body_size_max_bytes = std::size_t{64} * 1024 * 1024;
    // Called from drain_completions when rows become available. If it is empty, rows are kept until
    // the end, and the operation fails if they exceed the bound above.
    std::function<void()> on_rows{};

    std::optional<duration> timeout{};  // empty: the engine's default for the service
    time_point deadline = no_deadline;
    std::shared_ptr<retry_strategy> strategy{};
    std::shared_ptr<const std::any> user_data{};
    retry_allowance* outer_allowance = nullptr;
};

// The HTTP part of an operation_result.
struct http_result {
    int status = 0;               // 0: no answer
    std::string body{};           // as in http_answer
    row_batch rows{};             // the rows that were not taken
    std::uint64_t row_count = 0;  // of the last answer, taken or not
    std::uint32_t server_code = 0;
    std::string server_text{};
};

}  // namespace reprise::engine
