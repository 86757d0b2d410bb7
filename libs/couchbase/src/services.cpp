#include <utility>

#include <reprise/couchbase/cluster.hpp>

#include "session.hpp"

// The HTTP services' calls of the handles.

namespace reprise::couchbase {
namespace {

template <class Stream>
std::expected<Stream, error> open_stream(const detail::service_work& work) {
    auto rows = detail::open_rows(work);
    if (!rows) {
        return std::unexpected(std::move(rows.error()));
    }
    return Stream(std::move(*rows));
}

}  // namespace

using detail::row_mode;
using detail::run_work;

std::expected<query_result, error> cluster::query(
    std::string_view statement, const query_options& options) const {
    return run_work<query_result>(
        detail::make_query_work(client_, {}, statement, options, row_mode::kept));
}

std::expected<couchbase::query_stream, error> cluster::query_stream(
    std::string_view statement, const query_options& options) const {
    return open_stream<couchbase::query_stream>(
        detail::make_query_work(client_, {}, statement, options, row_mode::streamed));
}

std::expected<analytics_result, error> cluster::analytics_query(
    std::string_view statement, const analytics_options& options) const {
    return run_work<analytics_result>(
        detail::make_analytics_work(client_, {}, statement, options, row_mode::kept));
}

std::expected<couchbase::analytics_stream, error> cluster::analytics_stream(
    std::string_view statement, const analytics_options& options) const {
    return open_stream<couchbase::analytics_stream>(
        detail::make_analytics_work(client_, {}, statement, options, row_mode::streamed));
}

std::expected<search_result, error> cluster::search(
    std::string_view index, const search_query& query, const search_options& options) const {
    return run_work<search_result>(
        detail::make_search_work(client_, {}, index, query, options, row_mode::kept));
}

std::expected<couchbase::search_stream, error> cluster::search_stream(
    std::string_view index, const search_query& query, const search_options& options) const {
    return open_stream<couchbase::search_stream>(
        detail::make_search_work(client_, {}, index, query, options, row_mode::streamed));
}

std::expected<couchbase::management_response, error> cluster::management_request(
    const couchbase::management_request& request, const management_options& options) const {
    return run_work<management_response>(detail::make_management_work(client_, request, options));
}

bucket_manager cluster::buckets() const {
    return bucket_manager(client_);
}

query_index_manager cluster::query_indexes() const {
    return query_index_manager(client_);
}

std::expected<view_result, error> bucket::view_query(
    std::string_view design_document, std::string_view view, const view_options& options) const {
    return run_work<view_result>(
        detail::make_view_work(client_, name_, design_document, view, options, row_mode::kept));
}

std::expected<couchbase::view_stream, error> bucket::view_stream(
    std::string_view design_document, std::string_view view, const view_options& options) const {
    return open_stream<couchbase::view_stream>(
        detail::make_view_work(client_, name_, design_document, view, options, row_mode::streamed));
}

collection_manager bucket::collections() const {
    return {client_, name_};
}

std::expected<query_result, error> scope::query(
    std::string_view statement, const query_options& options) const {
    return run_work<query_result>(
        detail::make_query_work(client_, {bucket_, name_}, statement, options, row_mode::kept));
}

std::expected<couchbase::query_stream, error> scope::query_stream(
    std::string_view statement, const query_options& options) const {
    return open_stream<couchbase::query_stream>(
        detail::make_query_work(client_, {bucket_, name_}, statement, options, row_mode::streamed));
}

std::expected<analytics_result, error> scope::analytics_query(
    std::string_view statement, const analytics_options& options) const {
    return run_work<analytics_result>(
        detail::make_analytics_work(client_, {bucket_, name_}, statement, options, row_mode::kept));
}

std::expected<couchbase::analytics_stream, error> scope::analytics_stream(
    std::string_view statement, const analytics_options& options) const {
    return open_stream<couchbase::analytics_stream>(detail::make_analytics_work(
        client_, {bucket_, name_}, statement, options, row_mode::streamed));
}

std::expected<search_result, error> scope::search(
    std::string_view index, const search_query& query, const search_options& options) const {
    return run_work<search_result>(
        detail::make_search_work(client_, {bucket_, name_}, index, query, options, row_mode::kept));
}

std::expected<couchbase::search_stream, error> scope::search_stream(
    std::string_view index, const search_query& query, const search_options& options) const {
    return open_stream<couchbase::search_stream>(detail::make_search_work(
        client_, {bucket_, name_}, index, query, options, row_mode::streamed));
}

}  // namespace reprise::couchbase
