// No answer of a query breaks its parser, and an answer with errors is never a success.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include <reprise/services/query_outcome.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace reprise::services;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    (void)parse_prepared_row(text);
    const auto outcome = parse_query_outcome(text);
    if (!outcome) {
        (void)to_string(outcome.error());
        return 0;
    }
    const service_verdict query = classify_query(200, *outcome, request_access::may_write);
    const service_verdict analytics = classify_analytics(200, *outcome, request_access::may_write);
    const bool is_success = outcome->errors.empty() && (outcome->state == query_status::success ||
                                                        outcome->state == query_status::completed);
    if (outcome->errors.size() > 100 || outcome->warnings.size() > 100 ||
        (query.error == std::nullopt) != is_success ||
        (analytics.error == std::nullopt) != is_success ||
        (is_success && query.reason != retry_reason::unknown) ||
        (query.reason != retry_reason::unknown && query.may_have_acted) ||
        (query.error == errc::unambiguous_timeout)) {
        std::abort();
    }
    return 0;
}
