#include <utility>

#include <reprise/couchbase/cluster.hpp>
#include <reprise/services/analytics_request.hpp>

#include "service_calls.hpp"

namespace reprise::couchbase {

namespace detail {

service_work make_analytics_work(
    const std::shared_ptr<session>& client, service_scope in, std::string_view statement,
    const analytics_options& options, row_mode mode) {
    json_collector values;
    services::analytics_request asked;
    asked.statement = statement;
    asked.client_context_id =
        options.client_context_id.empty() ? client->next_context_id() : options.client_context_id;
    asked.timeout = server_limit(*client, wire::service::analytics, options);
    asked.is_readonly = options.readonly;
    asked.has_priority = options.has_priority;
    asked.args = values.take_all(options.positional, "positional");
    asked.parameters = values.take_all(options.named);
    asked.consistency = static_cast<services::scan_consistency>(options.consistency);
    asked.query_context = context_of(in);
    asked.raw = values.take_all(options.raw);
    return finish_work(client, values, services::make_analytics_operation(asked), options, mode);
}

}  // namespace detail

std::expected<analytics_result, error> cluster::analytics_query(
    std::string_view statement, const analytics_options& options) const {
    return detail::run_work<analytics_result>(
        detail::make_analytics_work(client_, {}, statement, options, detail::row_mode::kept));
}

std::expected<couchbase::analytics_stream, error> cluster::analytics_stream(
    std::string_view statement, const analytics_options& options) const {
    return detail::open_stream<couchbase::analytics_stream>(
        detail::make_analytics_work(client_, {}, statement, options, detail::row_mode::streamed));
}

std::expected<analytics_result, error> scope::analytics_query(
    std::string_view statement, const analytics_options& options) const {
    return detail::run_work<analytics_result>(detail::make_analytics_work(
        client_, {bucket_, name_}, statement, options, detail::row_mode::kept));
}

std::expected<couchbase::analytics_stream, error> scope::analytics_stream(
    std::string_view statement, const analytics_options& options) const {
    return detail::open_stream<couchbase::analytics_stream>(detail::make_analytics_work(
        client_, {bucket_, name_}, statement, options, detail::row_mode::streamed));
}

}  // namespace reprise::couchbase
