#include <utility>

#include <reprise/couchbase/cluster.hpp>
#include <reprise/services/management_request.hpp>

#include "service_calls.hpp"
#include "session.hpp"

namespace reprise::couchbase {

namespace detail {

service_work make_management_work(
    const std::shared_ptr<session>& client, const management_request& request,
    const management_options& options) {
    return make_call_work(client, services::make_raw_call(request), options);
}

template std::expected<management_response, error> run_work(const service_work&);
template void start_work(
    const service_work&, const result_receiver<management_response>&, call_ticket);

}  // namespace detail

std::expected<couchbase::management_response, error> cluster::management_request(
    const couchbase::management_request& request, const management_options& options) const {
    return detail::run_work<management_response>(
        detail::make_management_work(client_, request, options));
}

bucket_manager cluster::buckets() const {
    return bucket_manager(client_);
}

query_index_manager cluster::query_indexes(index_target on) const {
    return {client_, std::move(on)};
}

query_index_manager collection::query_indexes() const {
    const auto names = target_.client->client().names_of(target_.keyspace);
    // Indexes of the default collection name their bucket alone.
    constexpr std::string_view default_name = "_default";
    const bool is_default = names.scope == default_name && names.collection == default_name;
    return {
        target_.client, is_default ? index_target{.bucket = names.bucket}
                                   : index_target{names.bucket, names.scope, names.collection}};
}

collection_manager bucket::collections() const {
    return {client_, name_};
}

}  // namespace reprise::couchbase
