#pragma once

#include <expected>
#include <string>

#include <reprise/couchbase/detail/service_work.hpp>
#include <reprise/engine/http_operation.hpp>
#include <reprise/engine/operation_result.hpp>
#include <reprise/services/service_call.hpp>
#include <reprise/services/service_outcome.hpp>

// What the sources behind the HTTP services share.

namespace reprise::couchbase::detail {

// Behind service_work.
struct unsent_request {
    // Taken when it is started.
    std::expected<engine::http_request, error> request;
};

// The error of an operation that failed, with the service's code.
[[nodiscard]] error to_service_error(engine::operation_result& result);

// errc::decoding_failure of an answer that came, but cannot be read, with the way that led to it.
[[nodiscard]] error unreadable_answer(std::string detail, operation_trace&& trace);

// What the rest of an answer says, or why it cannot be read.
template <class Metadata>
[[nodiscard]] std::expected<Metadata, services::outcome_error> parse_metadata(
    std::string_view rest);
template <>
std::expected<query_metadata, services::outcome_error> parse_metadata(std::string_view rest);
template <>
std::expected<search_metadata, services::outcome_error> parse_metadata(std::string_view rest);
template <>
std::expected<view_metadata, services::outcome_error> parse_metadata(std::string_view rest);

// A management request whose parts are known to be right, or why they are not.
[[nodiscard]] service_work make_call_work(
    const std::shared_ptr<session>& client, services::service_call_result call,
    const management_options& options);

// The request, once; a second start of the same work is errc::invalid_argument.
[[nodiscard]] std::expected<engine::http_request, error> take_request(const service_work& work);

}  // namespace reprise::couchbase::detail
