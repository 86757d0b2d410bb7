#include "service_calls.hpp"

#include <algorithm>

#include <reprise/services/management_request.hpp>

namespace reprise::couchbase::detail {

error argument_error(std::string text) {
    return {make_error_code(errc::invalid_argument), std::move(text)};
}

std::vector<services::mutation_mark> marks_of(const mutation_state& state) {
    std::vector<services::mutation_mark> marks;
    marks.reserve(state.tokens.size());
    for (const mutation_token& token : state.tokens) {
        marks.push_back(
            {token.bucket, wire::vbucket_id{token.vbucket}, {token.vbucket_uuid, token.seqno}});
    }
    return marks;
}

std::chrono::milliseconds timeout_for_server(duration timeout) {
    return services::server_timeout(std::max(
        std::chrono::duration_cast<std::chrono::milliseconds>(timeout),
        std::chrono::milliseconds{1}));
}

std::string context_of(service_scope in) {
    return in.bucket.empty() ? std::string() : services::make_query_context(in.bucket, in.scope);
}

error unreadable_answer(std::string text, operation_trace&& trace) {
    auto info = std::make_shared<error_info>();
    info->code = errc::decoding_failure;
    info->detail = std::move(text);
    info->retry_attempts = trace.retry_attempts;
    info->history = std::move(trace.history);
    if (info->history) {
        for (std::size_t index = 0; index < info->history->entries.size(); ++index) {
            info->retry_reasons.insert(info->history->entries[index].reason_as<retry_reason>());
        }
    }
    return error(std::move(info));
}

error to_service_error(engine::operation_result& result) {
    return {std::move(result.error), result.http ? result.http->server_code : 0};
}

service_work make_call_work(
    const std::shared_ptr<session>& client, services::service_call_result call,
    const management_options& options) {
    services::service_operation_result made =
        call ? services::service_operation_result(
                   services::make_management_operation(std::move(*call)))
             : std::unexpected(std::move(call.error()));
    return finish_work(client, {}, std::move(made), options, row_mode::kept);
}

std::expected<engine::http_request, error> take_request(const service_work& work) {
    return std::exchange(
        work.request->request,
        std::unexpected(argument_error("this request has already been started")));
}

}  // namespace reprise::couchbase::detail
