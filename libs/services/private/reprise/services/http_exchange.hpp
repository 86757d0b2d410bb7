#pragma once

#include <any>
#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <string_view>

#include <reprise/couchbase_types/errc.hpp>
#include <reprise/couchbase_types/retry_reason.hpp>
#include <reprise/http/message.hpp>
#include <reprise/retry/time.hpp>
#include <reprise/services/service_call.hpp>
#include <reprise/wire/service.hpp>

// How an operation talks to an HTTP service. The engine sends requests and retries them; this is
// all that it sees of a service.

namespace reprise::wire {
class cluster_configuration;
}

namespace reprise::services {

using couchbase::errc;
using couchbase::retry_reason;

/// A complete answer. The views are valid during the call only.
struct http_answer {
    int status = 0;
    const http::header_list& headers;
    /// The body. If rows were passed on, it is a JSON object without them.
    std::string_view body{};
    std::uint64_t row_count = 0;
};

/// The meaning of an answer.
struct exchange_result {
    enum class step : std::uint8_t {
        done,    ///< success
        failed,  ///< the operation ends with `error`
        retry,   ///< may be retried for `reason`; otherwise the operation ends with `error`
        next,    ///< a part is done: compose the next request and send it now
    };
    step what = step::done;
    errc error = errc::internal_server_failure;
    retry_reason reason = retry_reason::unknown;
    /// Unless the answer proves the opposite, a failed request may have been executed, whole or in
    /// part. If it may change data, it is never sent again, and its error is ambiguous.
    bool may_have_acted = true;
    /// The shortest delay before a retry (Retry-After). Zero if the server did not ask for one.
    duration delay_floor{};
    std::uint32_t server_code = 0;  ///< the service's own code; 0: none
    std::string server_text{};      ///< the service's own message
    /// The metadata that a success has in addition to rows: query_metadata, search_metadata or
    /// view_metadata. Empty for other services.
    std::any metadata{};
};

/// Composes the requests of one operation and judges the answers. Each operation owns its exchange.
/// An exchange does no I/O and is called on the engine's thread.
class http_exchange {
public:
    virtual ~http_exchange();
    /// Returns the next request: before the first attempt, each retry and each further part. The
    /// exchange keeps it, unchanged until the next call. `cluster` is the current configuration;
    /// null if it is not known yet.
    [[nodiscard]] virtual const service_call& compose(
        const wire::cluster_configuration* cluster) = 0;
    /// Judges a complete answer to the last composed request. Must not throw.
    [[nodiscard]] virtual exchange_result judge(const http_answer& answer) = 0;
};

/// An operation of a service, ready to be started. `make_NAME_operation` of each service fills in
/// all members that it needs.
struct service_operation {
    wire::service service = wire::service::management;
    std::string operation{};   ///< for logs and errors
    std::string statement{};   ///< for errors only; never logged
    std::string context_id{};  ///< identifies the operation in the server's log
    bool is_idempotent = false;
    /// Only nodes of this bucket's configuration are used (views). Empty: any node.
    std::string bucket{};
    std::unique_ptr<http_exchange> exchange{};
};

/// The error names the part of the request that cannot be sent.
using service_operation_result = std::expected<service_operation, service_call_error>;

}  // namespace reprise::services
