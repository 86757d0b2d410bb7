#pragma once

/// gRPC: unary calls as operations that `reprise::retry` and `reprise::async_retry` understand.
/// ```
///     const auto ended = reprise::retry(reprise::attempts(5), [&] {
///         grpc::ClientContext context;
///         return reprise::adapters::grpc_result(stub.Find(&context, {}, &stock), context);
///     });
/// ```
/// For the callback interface of a stub there is `grpc_start`. Switch off the channel's own retries
/// (`GRPC_ARG_ENABLE_RETRIES`), or both will retry.

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <grpcpp/client_context.h>
#include <grpcpp/support/status.h>
#include <grpcpp/support/time.h>

#include <reprise/retry/adapters/grpc_details.hpp>
#include <reprise/retry/call_options.hpp>
#include <reprise/retry/outcome.hpp>

namespace reprise::adapters {

/// The end of one call.
class grpc_result {
public:
    grpc_result() = default;
    /// `context` is that of the call: its trailing metadata can hold `grpc-retry-pushback-ms`.
    grpc_result(::grpc::Status status, const ::grpc::ClientContext& context)
        : status_(std::move(status)) {
        if (status_.ok()) {
            return;
        }
        const auto& trailers = context.GetServerTrailingMetadata();
        if (const auto found = trailers.find("grpc-retry-pushback-ms"); found != trailers.end()) {
            minimum_wait_ = parse_retry_pushback({found->second.data(), found->second.size()});
            is_forbidden_ = !minimum_wait_;
        }
    }
    explicit grpc_result(::grpc::Status status) : status_(std::move(status)) {}

    [[nodiscard]] const ::grpc::Status& status() const noexcept { return status_; }
    [[nodiscard]] bool is_failure() const noexcept { return !status_.ok(); }
    /// "UNAVAILABLE: no healthy upstream"
    [[nodiscard]] std::string message() const {
        return detail::grpc_text(static_cast<int>(status_.error_code()), status_.error_message());
    }

    /// UNAVAILABLE, RESOURCE_EXHAUSTED (throttling) and DEADLINE_EXCEEDED (a timeout) are of safety
    /// `maybe`: repeated unless the call is marked as not repeatable, because the server may have
    /// acted. So is every status with a RetryInfo, whose delay is the minimum wait. A pushback sets
    /// the minimum wait, too, or forbids the retry. All other statuses are never repeated; ABORTED
    /// asks you to repeat more than the call. Those that correspond to HTTP's 4xx (NOT_FOUND,
    /// CANCELLED, ...) are the client's fault, so a circuit breaker does not count them.
    [[nodiscard]] failure_facts retry_facts() const noexcept {
        const int code = static_cast<int>(status_.error_code());
        failure_facts facts{
            .safety = retry_safety::no,
            .fault = failure_fault::other,
            .code = static_cast<std::uint32_t>(code)};
        const auto retry_info = retry_info_delay(status_.error_details());
        const auto* const row = reprise::detail::find_row(detail::grpc_rows, code);
        if (row != nullptr) {
            facts.throttling = row->throttling;
            facts.timeout = row->timeout;
            facts.fault = row->fault;
        }
        const bool is_transient =
            retry_info.has_value() || (row != nullptr && row->safety == retry_safety::maybe);
        if (is_transient && !is_forbidden_) {
            facts.safety = retry_safety::maybe;
            facts.fault = failure_fault::server;
            facts.minimum_wait = minimum_wait_ ? minimum_wait_ : retry_info;
        }
        return facts;
    }

private:
    ::grpc::Status status_;
    std::optional<duration> minimum_wait_;
    bool is_forbidden_ = false;
};

/// Gives the call the time that is left of the attempt.
inline void grpc_limit_time(::grpc::ClientContext& context, const attempt& current) {
    if (const duration left = current.time_left(); left < std::chrono::hours{24 * 365}) {
        const auto time = std::chrono::ceil<std::chrono::microseconds>(left);
        context.set_deadline(gpr_time_from_micros(time.count(), GPR_TIMESPAN));  // From now on.
    }
}

/// One attempt through the callback interface of a stub, for `async_retry` with the signature
/// `void(grpc_result, Response)`:
/// ```
///     const auto initiate = [&server](const reprise::attempt& current, auto handler) {
///         reprise::adapters::grpc_start<shop::Stock>(
///             current, std::move(handler),
///             [&server](grpc::ClientContext* context, shop::Stock* stock, auto done) {
///                 ...
///                 server.stub().async()->Find(context, &item, stock, std::move(done));
///             });
///     };
/// ```
/// Keeps context, response and handler until the call has ended. The handler is called from a
/// thread of gRPC. A signal to its cancellation slot cancels the call.
template <class Response, class Handler, class Start>
void grpc_start(const attempt& current, Handler handler, Start start) {
    struct pending_call {
        explicit pending_call(Handler given) : handler(std::move(given)) {}
        ::grpc::ClientContext context;
        Response response;
        Handler handler;
    };
    const auto call = std::make_shared<pending_call>(std::move(handler));
    grpc_limit_time(call->context, current);
    if constexpr (requires { call->handler.get_cancellation_slot(); }) {
        if (auto slot = call->handler.get_cancellation_slot(); slot.is_connected()) {
            slot.assign([pending = std::weak_ptr(call)](auto /*type*/) {
                if (const auto canceled = pending.lock()) {
                    canceled->context.TryCancel();
                }
            });
        }
    }
    start(&call->context, &call->response, [call, current](::grpc::Status status) {
        // The loop cancels at the limit that gRPC has as well; either may be first.
        if (status.error_code() == ::grpc::StatusCode::CANCELLED &&
            current.time_left() == duration::zero()) {
            status = {::grpc::StatusCode::DEADLINE_EXCEEDED, "the attempt's time is over"};
        }
        grpc_result result(std::move(status), call->context);
        std::move(call->handler)(std::move(result), std::move(call->response));
    });
}

}  // namespace reprise::adapters

template <>
struct reprise::outcome_traits<reprise::adapters::grpc_result> {
    [[nodiscard]] static bool is_failure(const adapters::grpc_result& result) noexcept {
        return result.is_failure();
    }
    [[nodiscard]] static failure_facts facts(const adapters::grpc_result& result) noexcept {
        return result.retry_facts();
    }
};

template <>
struct reprise::driver::unattempted_outcome<reprise::adapters::grpc_result> {
    [[nodiscard]] static adapters::grpc_result make(refusal_reason why) {
        if (why == refusal_reason::circuit_open) {
            return adapters::grpc_result(
                ::grpc::Status(::grpc::StatusCode::UNAVAILABLE, "circuit breaker is open"));
        }
        return adapters::grpc_result(
            ::grpc::Status(::grpc::StatusCode::CANCELLED, "canceled before the first attempt"));
    }
};
