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
    std::string content_type{};  // empty: not said
    http::header_list headers{};
    std::string body{};
    // The member of the answer's object whose elements are handed out one by one as they come.
    // Empty: the answer is kept whole, up to http_request::body_size_max_bytes.
    std::string rows_member{};
    // This request changes nothing, whatever the whole operation does (it prepares a statement): it
    // may be sent again without an answer, and there is no doubt when it is lost.
    bool is_harmless = false;
    // Filled in by the engine before `compose`: what the cluster says of itself, good during the
    // call. Null: nothing is known yet.
    const wire::cluster_configuration* cluster = nullptr;
};

// A whole answer. Views live during the call only.
struct http_answer {
    int status = 0;
    const http::header_list& headers;
    // The body; without its rows if these were handed out (then a JSON object of the rest).
    std::string_view body{};
    std::uint64_t row_count = 0;
};

// What an answer means.
struct exchange_verdict {
    enum class step : std::uint8_t {
        done,    // success
        failed,  // the operation ends with `error`
        retry,   // the retry decider decides; refused, it ends with `error`
        next,    // this was only a part: compose the next request and send it now
    };
    step what = step::done;
    errc error = errc::internal_server_failure;
    retry_reason reason = retry_reason::unknown;
    // At least this long before a retry; zero: nothing was said (Retry-After).
    duration delay_floor{};
    std::uint32_t server_code = 0;  // the service's own number; 0: none
    std::string server_text{};      // its own words
};

// What one operation says to a service and how it reads the answers; made for one operation and
// owned by it. Decides, does no I/O. Called on the engine's thread.
class http_exchange {
public:
    virtual ~http_exchange();
    // Fills in the request to send now: before the first attempt, each retry and each next part.
    virtual void compose(http_call& call) = 0;
    // Reads a complete answer to the request composed last. Must not throw.
    [[nodiscard]] virtual exchange_verdict judge(const http_answer& answer) = 0;
};

// What to do. Moved into the engine, which keeps it until the operation ends.
struct http_request {
    wire::service service = wire::service::query;
    std::string operation = "query";  // for logs and errors
    std::string statement{};          // for errors only; never logged
    std::string context_id{};         // names the operation in the server's log
    bool is_idempotent = false;
    // Only nodes of this bucket's configuration are asked (views); empty: any node.
    std::string bucket{};
    std::unique_ptr<http_exchange> exchange{};
    // Rows wait here until they are taken: reading stops above this and goes on below half of it.
    std::size_t rows_size_max_bytes = std::size_t{1024} * 1024;
    // The largest single row, and the largest answer without rows. Bytes.
    std::size_t row_size_max_bytes = std::size_t{20} * 1024 * 1024;
    std::size_t body_size_max_bytes = std::size_t{64} * 1024 * 1024;
    // Called from drain_completions when rows wait to be taken and none did before. May be empty:
    // rows are then kept until the end, and the operation fails if they outgrow the bound above.
    std::function<void()> on_rows{};

    std::optional<duration> timeout{};  // absent: the engine's for the service
    time_point deadline = no_deadline;
    std::shared_ptr<retry_strategy> strategy{};
    std::shared_ptr<const std::any> user_data{};
    retry_allowance* outer_allowance = nullptr;
};

// What operation_result brings of an HTTP operation.
struct http_result {
    int status = 0;               // 0: no answer
    std::string body{};           // as in http_answer
    row_batch rows{};             // those not yet taken
    std::uint64_t row_count = 0;  // of the last answer, taken or not
    std::uint32_t server_code = 0;
    std::string server_text{};
};

}  // namespace reprise::engine
