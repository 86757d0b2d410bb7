#include <utility>

#include <reprise/couchbase/cluster.hpp>
#include <reprise/services/view_outcome.hpp>
#include <reprise/services/view_request.hpp>

#include "service_calls.hpp"

namespace reprise::couchbase {

namespace detail {

service_work make_view_work(
    const std::shared_ptr<session>& client, std::string_view bucket, std::string_view design,
    std::string_view view, const view_options& options, row_mode mode) {
    return finish_work(
        client, services::make_view_operation(bucket, design, view, options), options, mode);
}

template std::expected<view_result, error> run_work(const service_work&);
template void start_work(const service_work&, const result_receiver<view_result>&, call_ticket);

}  // namespace detail

std::expected<view_result, error> bucket::view_query(
    std::string_view design_document, std::string_view view, const view_options& options) const {
    return detail::run_work<view_result>(detail::make_view_work(
        client_, name_, design_document, view, options, detail::row_mode::kept));
}

std::expected<couchbase::view_stream, error> bucket::view_stream(
    std::string_view design_document, std::string_view view, const view_options& options) const {
    return detail::open_stream<couchbase::view_stream>(detail::make_view_work(
        client_, name_, design_document, view, options, detail::row_mode::streamed));
}

std::expected<view_row, error> parse_view_row(row_view row) {
    auto parsed = services::parse_view_row(row.text());
    if (!parsed) {
        return std::unexpected(
            error(make_error_code(errc::decoding_failure), services::to_string(parsed.error())));
    }
    return std::move(*parsed);
}

}  // namespace reprise::couchbase
