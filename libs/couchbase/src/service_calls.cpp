#include "service_calls.hpp"

#include <reprise/services/management_request.hpp>

namespace reprise::couchbase::detail {

error argument_error(std::string text) {
    return {make_error_code(errc::invalid_argument), std::move(text)};
}

error to_error(const services::service_call_error& refused) {
    if (refused.code == services::service_call_errc::value_not_encoded) {
        return {make_error_code(errc::encoding_failure), refused.what};
    }
    return argument_error(services::to_string(refused));
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
    return finish_work(client, std::move(made), options, row_mode::kept);
}

std::expected<engine::http_request, error> take_request(const service_work& work) {
    return std::exchange(
        work.request->request,
        std::unexpected(argument_error("this request has already been started")));
}

}  // namespace reprise::couchbase::detail
