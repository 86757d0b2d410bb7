#include <reprise/couchbase/asio.hpp>

#include <utility>

#include "session.hpp"

namespace reprise::couchbase {

std::expected<cluster, error> connect(
    const boost::asio::any_io_executor& executor, std::string_view connection_string,
    const cluster_options& options) {
    if (options.threads == thread_mode::caller_drives) {
        return std::unexpected(
            error(errc::option_invalid, "threads: caller_drives contradicts an executor"));
    }
    auto plan = detail::plan_connect(connection_string, options);
    if (!plan) {
        return std::unexpected(std::move(plan.error()));
    }
    auto client = net::client::make(std::move(plan->options), executor);
    if (!client) {
        return std::unexpected(detail::to_error(client.error()));
    }
    return detail::begin_session(std::move(*client), std::move(plan->facts));
}

}  // namespace reprise::couchbase
