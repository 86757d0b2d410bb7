#include <reprise/couchbase/cluster.hpp>
#include <reprise/services/analytics_request.hpp>

#include "service_calls.hpp"

namespace reprise::couchbase {

namespace detail {

service_work make_analytics_work(
    const std::shared_ptr<session>& client, service_scope in, std::string_view statement,
    const analytics_options& options, row_mode mode) {
    return finish_work(
        client,
        services::make_analytics_operation(
            statement, options, context_of(*client, wire::service::analytics, in, options)),
        options, mode);
}

}  // namespace detail

std::expected<analytics_result, error> row_calls::analytics_query(
    std::string_view statement, const analytics_options& options) const {
    return detail::run_work<analytics_result>(detail::make_analytics_work(
        client_, {bucket_, scope_}, statement, options, detail::row_mode::kept));
}

std::expected<couchbase::analytics_stream, error> row_calls::analytics_stream(
    std::string_view statement, const analytics_options& options) const {
    return detail::open_stream<couchbase::analytics_stream>(detail::make_analytics_work(
        client_, {bucket_, scope_}, statement, options, detail::row_mode::streamed));
}

}  // namespace reprise::couchbase
