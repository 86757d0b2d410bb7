#include <utility>

#include <reprise/couchbase/cluster.hpp>
#include <reprise/services/query_request.hpp>

#include "service_calls.hpp"

namespace reprise::couchbase {

namespace detail {

service_work make_query_work(
    const std::shared_ptr<session>& client, service_scope in, std::string_view statement,
    const query_options& options, row_mode mode) {
    services::query_plan plan;
    if (!options.adhoc) {
        plan.cache = client->prepared();
        plan.may_be_enhanced = client->facts().options.enhanced_prepared_statements;
    }
    return finish_work(
        client,
        services::make_query_operation(
            statement, options, context_of(*client, wire::service::query, in, options),
            std::move(plan)),
        options, mode);
}

template std::expected<query_result, error> run_work(const service_work&);
template void start_work(const service_work&, const result_receiver<query_result>&, call_ticket);

}  // namespace detail

std::expected<query_result, error> row_calls::query(
    std::string_view statement, const query_options& options) const {
    return detail::run_work<query_result>(detail::make_query_work(
        client_, {bucket_, scope_}, statement, options, detail::row_mode::kept));
}

std::expected<couchbase::query_stream, error> row_calls::query_stream(
    std::string_view statement, const query_options& options) const {
    return detail::open_stream<couchbase::query_stream>(detail::make_query_work(
        client_, {bucket_, scope_}, statement, options, detail::row_mode::streamed));
}

}  // namespace reprise::couchbase
