#pragma once

#include <any>
#include <expected>
#include <string>

#include <reprise/base/assert.hpp>
#include <reprise/couchbase/detail/calls.hpp>
#include <reprise/engine/http_operation.hpp>
#include <reprise/engine/operation_result.hpp>
#include <reprise/services/service_call.hpp>

// Shared by the sources of the HTTP services.

namespace reprise::couchbase::detail {

// The content of service_work.
struct unsent_request {
    // Moved out when the request is started.
    std::expected<engine::http_request, error> request;
};

// The error of a failed operation, with the service's code.
[[nodiscard]] error to_service_error(engine::operation_result& result);

// errc::decoding_failure for an answer that cannot be decoded, with its history.
[[nodiscard]] error unreadable_answer(std::string detail, operation_trace&& trace);

// The metadata that the service sent with the rows of a success.
template <class Metadata>
[[nodiscard]] Metadata metadata_in(std::any judged) {
    auto* const found = std::any_cast<Metadata>(&judged);
    REPRISE_ASSERT(found != nullptr);
    return std::move(*found);
}

// Builds a management request, or keeps the error of its parts.
[[nodiscard]] service_work make_call_work(
    const std::shared_ptr<session>& client, services::service_call_result call,
    const management_options& options);

// Returns the request once. A second start of the same work fails with errc::invalid_argument.
[[nodiscard]] std::expected<engine::http_request, error> take_request(const service_work& work);

}  // namespace reprise::couchbase::detail
