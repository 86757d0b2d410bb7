#include <utility>

#include <reprise/services/view_outcome.hpp>
#include <reprise/services/view_request.hpp>

#include "fixed_exchange.hpp"

namespace reprise::services {
namespace {

using step = exchange_result::step;

class view_exchange final : public detail::fixed_exchange {
public:
    using fixed_exchange::fixed_exchange;

private:
    exchange_result read(const http_answer& answer) const override {
        const auto judged = classify_view(answer.status, answer.body);
        exchange_result verdict = detail::result_of(judged);
        if (verdict.what != step::done) {
            verdict.server_text = answer.body.substr(0, 512);
            return verdict;
        }
        auto outcome = parse_view_outcome(answer.body);
        if (!outcome) {
            verdict = detail::failure(errc::parsing_failure);
            verdict.server_text = to_string(outcome.error());
            return verdict;
        }
        verdict.metadata = couchbase::view_metadata(std::move(*outcome));
        return verdict;
    }
};

}  // namespace

service_operation_result make_view_operation(
    std::string_view bucket, std::string_view design_document, std::string_view view,
    const view_options& options) {
    auto made = detail::fixed_operation<view_exchange>(
        make_view_call(bucket, design_document, view, options), "view");
    if (made) {
        made->bucket = bucket;
    }
    return made;
}

}  // namespace reprise::services
