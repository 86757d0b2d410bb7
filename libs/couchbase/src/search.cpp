#include <reprise/couchbase/cluster.hpp>
#include <reprise/services/search_request.hpp>

#include "service_calls.hpp"

namespace reprise::couchbase {

namespace detail {

service_work make_search_work(
    const std::shared_ptr<session>& client, service_scope in, std::string_view index,
    const search_query& query, const search_options& options, row_mode mode) {
    return finish_work(
        client,
        services::make_search_operation(
            index, query, options, context_of(*client, wire::service::search, in, options)),
        options, mode);
}

template std::expected<search_result, error> run_work(const service_work&);
template void start_work(const service_work&, const result_receiver<search_result>&, call_ticket);

}  // namespace detail

std::expected<search_result, error> row_calls::search(
    std::string_view index, const search_query& query, const search_options& options) const {
    return detail::run_work<search_result>(detail::make_search_work(
        client_, {bucket_, scope_}, index, query, options, detail::row_mode::kept));
}

std::expected<couchbase::search_stream, error> row_calls::search_stream(
    std::string_view index, const search_query& query, const search_options& options) const {
    return detail::open_stream<couchbase::search_stream>(detail::make_search_work(
        client_, {bucket_, scope_}, index, query, options, detail::row_mode::streamed));
}

}  // namespace reprise::couchbase
