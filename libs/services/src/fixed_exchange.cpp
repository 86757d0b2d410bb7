#include "fixed_exchange.hpp"

#include <chrono>

#include <reprise/retry/http_facts.hpp>

namespace reprise::services {

http_exchange::~http_exchange() = default;

namespace detail {

exchange_result failure(errc error) {
    exchange_result verdict;
    verdict.what = exchange_result::step::failed;
    verdict.error = error;
    return verdict;
}

exchange_result failure_by_status(errc error, int http_status) {
    exchange_result verdict = failure(error);
    verdict.may_have_acted = !refuses_request(http_status);
    return verdict;
}

exchange_result result_of(const service_verdict& judged) {
    if (!judged.error && judged.reason == retry_reason::unknown) {
        return {};
    }
    exchange_result result = failure(judged.error.value_or(errc::internal_server_failure));
    result.may_have_acted = judged.may_have_acted;
    if (judged.reason != retry_reason::unknown) {
        result.what = exchange_result::step::retry;
        result.reason = judged.reason;
    }
    return result;
}

duration retry_after(const http::header_list& headers) {
    constexpr std::chrono::sys_seconds century_hint{
        std::chrono::sys_days{std::chrono::year{2026} / std::chrono::January / 1}};
    const auto asked = http::find_header(headers, "Retry-After");
    if (!asked) {
        return {};
    }
    const auto date = http::find_header(headers, "Date");
    const auto now = date ? driver::parse_http_date(*date, century_hint) : std::nullopt;
    const bool is_number = asked->find_first_not_of("0123456789") == std::string_view::npos;
    if (!now && !is_number) {
        return {};
    }
    return driver::parse_retry_after(*asked, now.value_or(century_hint))
        .value_or(std::chrono::seconds{0});
}

exchange_result fixed_exchange::judge(const http_answer& answer) {
    exchange_result judged = read(answer);
    judged.delay_floor = retry_after(answer.headers);
    return judged;
}

service_operation operation_for(const service_call& call, std::string name) {
    service_operation made;
    made.service = call.service;
    made.operation = std::move(name);
    made.is_idempotent = call.is_idempotent;
    return made;
}

}  // namespace detail
}  // namespace reprise::services
