#include <utility>

#include <reprise/services/search_outcome.hpp>
#include <reprise/services/search_request.hpp>

#include "fixed_exchange.hpp"

namespace reprise::services {
namespace {

using step = exchange_result::step;

class search_exchange final : public detail::fixed_exchange {
public:
    using fixed_exchange::fixed_exchange;

private:
    exchange_result read(const http_answer& answer) const override {
        auto outcome = parse_search_outcome(answer.body);
        const auto judged = classify_search(answer.status, answer.body, outcome);
        exchange_result verdict = detail::result_of(judged);
        if (verdict.what != step::done) {
            verdict.server_text =
                outcome ? outcome->error : std::string(answer.body.substr(0, 512));
        } else if (outcome) {
            verdict.metadata = couchbase::search_metadata(std::move(*outcome));
        }
        return verdict;
    }
};

}  // namespace

service_operation_result make_search_operation(
    std::string_view index, const search_query& query, const search_options& options,
    const request_context& context) {
    return detail::fixed_operation<search_exchange>(
        make_search_call(index, query, options, context), "search");
}

}  // namespace reprise::services
