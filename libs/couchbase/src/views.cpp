#include <utility>

#include <reprise/couchbase/cluster.hpp>
#include <reprise/services/view_outcome.hpp>
#include <reprise/services/view_request.hpp>

#include "service_calls.hpp"

namespace reprise::couchbase {

namespace detail {
namespace {

static_assert(
    static_cast<int>(view_stale::no) == static_cast<int>(services::view_stale::no) &&
    static_cast<int>(view_on_error::stop) == static_cast<int>(services::view_on_error::stop));

services::view_request to_wire(
    std::string_view bucket, std::string_view design, std::string_view view,
    const view_options& options, json_collector& values) {
    services::view_request asked;
    asked.bucket = bucket;
    asked.design_document = design;
    asked.view = view;
    asked.is_development = options.is_development;
    asked.limit = options.limit;
    asked.skip = options.skip;
    if (options.stale) {
        asked.stale = static_cast<services::view_stale>(*options.stale);
    }
    asked.key = values.take(options.key, "key");
    asked.keys = values.take_all(options.keys, "keys");
    asked.start_key = values.take(options.start_key, "start_key");
    asked.end_key = values.take(options.end_key, "end_key");
    asked.start_key_doc_id = options.start_key_doc_id;
    asked.end_key_doc_id = options.end_key_doc_id;
    asked.is_end_inclusive = options.inclusive_end;
    asked.is_reduced = options.reduce;
    asked.is_grouped = options.group;
    asked.group_level = options.group_level;
    asked.is_descending = options.descending;
    if (options.on_error) {
        asked.on_error = static_cast<services::view_on_error>(*options.on_error);
    }
    asked.has_debug = options.debug;
    asked.is_full_set = options.full_set;
    return asked;
}

}  // namespace

service_work make_view_work(
    const std::shared_ptr<session>& client, std::string_view bucket, std::string_view design,
    std::string_view view, const view_options& options, row_mode mode) {
    json_collector values;
    const auto asked = to_wire(bucket, design, view, options, values);
    return finish_work(client, values, services::make_view_operation(asked), options, mode);
}

template std::expected<view_result, error> run_work(const service_work&);
template void start_work(const service_work&, result_receiver<view_result>*, call_ticket);

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
