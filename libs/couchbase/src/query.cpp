#include <utility>

#include <reprise/couchbase/cluster.hpp>
#include <reprise/services/query_outcome.hpp>
#include <reprise/services/query_request.hpp>

#include "service_calls.hpp"

namespace reprise::couchbase {

namespace detail {
namespace {

std::optional<query_metrics> metrics_of(const std::optional<services::query_metrics>& from) {
    if (!from) {
        return std::nullopt;
    }
    return query_metrics{from->elapsed_time, from->execution_time, from->result_count,
                         from->result_size,  from->sort_count,     from->mutation_count,
                         from->error_count,  from->warning_count,  from->processed_objects};
}

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
    engine::query_plan plan;
    if (!options.adhoc) {
        plan.cache = client->prepared();
        plan.may_be_enhanced = client->facts().options.enhanced_prepared_statements;
    }
    return finish_work(
        client, values, engine::make_query_operation(std::move(asked), std::move(plan)), options,
        mode);
}

template <>
std::expected<query_metadata, services::outcome_error> parse_metadata(std::string_view rest) {
    auto outcome = services::parse_query_outcome(rest);
    if (!outcome) {
        return std::unexpected(std::move(outcome.error()));
    }
    query_metadata made;
    made.status = services::to_string(outcome->status);
    made.request_id = std::move(outcome->request_id);
    made.client_context_id = std::move(outcome->client_context_id);
    made.signature = std::move(outcome->signature);
    made.profile = std::move(outcome->profile);
    made.metrics = metrics_of(outcome->metrics);
    for (auto& warning : outcome->warnings) {
        made.warnings.push_back({warning.code, std::move(warning.message)});
    }
    return made;
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
