#include <utility>

#include <reprise/couchbase/cluster.hpp>
#include <reprise/services/search_request.hpp>

#include "service_calls.hpp"

namespace reprise::couchbase {

namespace detail {

service_work make_search_work(
    const std::shared_ptr<session>& client, service_scope in, std::string_view index,
    const search_query& query, const search_options& options, row_mode mode) {
    json_collector values;
    services::search_request asked;
    asked.index = index;
    asked.bucket = in.bucket;
    asked.scope = in.scope;
    asked.query = query.json;
    asked.timeout = server_limit(*client, wire::service::search, options);
    asked.consistent_with = marks_of(options.consistent_with);
    asked.size = options.limit;
    asked.from = options.skip;
    asked.is_explained = options.explain;
    asked.is_unscored = options.disable_scoring;
    asked.has_locations = options.include_locations;
    asked.fields = options.fields;
    asked.sort = values.take_all(options.sort, "sort");
    asked.facets = values.take_all(options.facets);
    asked.collections = options.collections;
    asked.raw = values.take_all(options.raw);
    return finish_work(client, values, services::make_search_operation(asked), options, mode);
}

template std::expected<search_result, error> run_work(const service_work&);
template void start_work(const service_work&, result_receiver<search_result>*, call_ticket);

}  // namespace detail

std::expected<search_result, error> cluster::search(
    std::string_view index, const search_query& query, const search_options& options) const {
    return detail::run_work<search_result>(
        detail::make_search_work(client_, {}, index, query, options, detail::row_mode::kept));
}

std::expected<couchbase::search_stream, error> cluster::search_stream(
    std::string_view index, const search_query& query, const search_options& options) const {
    return detail::open_stream<couchbase::search_stream>(
        detail::make_search_work(client_, {}, index, query, options, detail::row_mode::streamed));
}

std::expected<search_result, error> scope::search(
    std::string_view index, const search_query& query, const search_options& options) const {
    return detail::run_work<search_result>(detail::make_search_work(
        client_, {bucket_, name_}, index, query, options, detail::row_mode::kept));
}

std::expected<couchbase::search_stream, error> scope::search_stream(
    std::string_view index, const search_query& query, const search_options& options) const {
    return detail::open_stream<couchbase::search_stream>(detail::make_search_work(
        client_, {bucket_, name_}, index, query, options, detail::row_mode::streamed));
}

search_query search_query::match(std::string_view text, std::string_view field) {
    return search_query(services::make_match_query(text, field));
}

search_query search_query::term(std::string_view term, std::string_view field) {
    return search_query(services::make_term_query(term, field));
}

search_query search_query::query_string(std::string_view text) {
    return search_query(services::make_query_string_query(text));
}

search_query search_query::match_all() {
    return search_query(services::make_match_all_query());
}

}  // namespace reprise::couchbase
