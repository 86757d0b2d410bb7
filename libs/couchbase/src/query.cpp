#include <utility>

#include <reprise/couchbase/cluster.hpp>
#include <reprise/services/query_request.hpp>

#include "service_calls.hpp"

namespace reprise::couchbase {

namespace detail {
namespace {

services::query_request to_wire(
    session& client, service_scope in, std::string_view statement, const query_options& options,
    json_collector& values) {
    services::query_request asked;
    asked.statement = statement;
    asked.client_context_id =
        options.client_context_id.empty() ? client.next_context_id() : options.client_context_id;
    asked.timeout = server_limit(client, wire::service::query, options);
    asked.is_readonly = options.readonly;
    asked.args = values.take_all(options.positional, "positional");
    asked.parameters = values.take_all(options.named);
    asked.consistency = static_cast<services::scan_consistency>(options.consistency);
    asked.consistent_with = marks_of(options.consistent_with);
    if (!asked.consistent_with.empty() &&
        asked.consistency == services::scan_consistency::server_default) {
        asked.consistency = services::scan_consistency::at_plus;
    }
    asked.scan_wait = options.scan_wait;
    asked.scan_cap = options.scan_cap;
    asked.pipeline_cap = options.pipeline_cap;
    asked.pipeline_batch = options.pipeline_batch;
    asked.max_parallelism = options.max_parallelism;
    if (options.profile) {
        asked.profile = static_cast<services::query_profile>(*options.profile);
    }
    asked.metrics = options.metrics;
    asked.query_context = context_of(in);
    asked.use_search_index = options.use_search_index;
    asked.preserve_expiry = options.preserve_expiry;
    asked.use_replica = options.use_replica;
    asked.raw = values.take_all(options.raw);
    return asked;
}

static_assert(
    static_cast<int>(scan_consistency::request_plus) ==
        static_cast<int>(services::scan_consistency::request_plus) &&
    static_cast<int>(query_profile::timings) == static_cast<int>(services::query_profile::timings));

}  // namespace

service_work make_query_work(
    const std::shared_ptr<session>& client, service_scope in, std::string_view statement,
    const query_options& options, row_mode mode) {
    json_collector values;
    auto asked = to_wire(*client, in, statement, options, values);
    services::query_plan plan;
    if (!options.adhoc) {
        plan.cache = client->prepared();
        plan.may_be_enhanced = client->facts().options.enhanced_prepared_statements;
    }
    return finish_work(
        client, values, services::make_query_operation(std::move(asked), std::move(plan)), options,
        mode);
}

template std::expected<query_result, error> run_work(const service_work&);
template void start_work(const service_work&, result_receiver<query_result>*, call_ticket);

}  // namespace detail

std::expected<query_result, error> cluster::query(
    std::string_view statement, const query_options& options) const {
    return detail::run_work<query_result>(
        detail::make_query_work(client_, {}, statement, options, detail::row_mode::kept));
}

std::expected<couchbase::query_stream, error> cluster::query_stream(
    std::string_view statement, const query_options& options) const {
    return detail::open_stream<couchbase::query_stream>(
        detail::make_query_work(client_, {}, statement, options, detail::row_mode::streamed));
}

std::expected<query_result, error> scope::query(
    std::string_view statement, const query_options& options) const {
    return detail::run_work<query_result>(detail::make_query_work(
        client_, {bucket_, name_}, statement, options, detail::row_mode::kept));
}

std::expected<couchbase::query_stream, error> scope::query_stream(
    std::string_view statement, const query_options& options) const {
    return detail::open_stream<couchbase::query_stream>(detail::make_query_work(
        client_, {bucket_, name_}, statement, options, detail::row_mode::streamed));
}

}  // namespace reprise::couchbase
