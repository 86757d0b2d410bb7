#include <reprise/couchbase/cluster.hpp>

#include <utility>

#include "session.hpp"

namespace reprise::couchbase {
namespace {

detail::call_target make_keyspace_target(
    const std::shared_ptr<detail::session>& client, const std::string& bucket,
    std::string_view scope, std::string_view collection) {
    return {
        client, client->client().keyspace(bucket, scope, collection),
        std::make_shared<const std::string>(bucket)};
}

}  // namespace

detail::call_target detail::make_target(
    const std::shared_ptr<session>& client, const std::string& bucket) {
    return make_keyspace_target(client, bucket, {}, {});
}

collection scope::collection(std::string_view name) const {
    return couchbase::collection(make_keyspace_target(client_, bucket_, scope_, name));
}

collection bucket::default_collection() const {
    return couchbase::collection(detail::make_target(client_, name_));
}

collection bucket::collection(std::string_view name) const {
    return couchbase::collection(make_keyspace_target(client_, name_, {}, name));
}

scope bucket::scope(std::string_view name) const {
    return {client_, name_, std::string(name)};
}

std::expected<void, error> bucket::wait_until_ready(duration timeout) const {
    return detail::run_call<void>(detail::make_target(client_, name_), detail::make_ping(timeout));
}

std::expected<cluster, error> cluster::connect(
    std::string_view connection_string, const cluster_options& options) {
    auto plan = detail::plan_connect(connection_string, options);
    if (!plan) {
        return std::unexpected(std::move(plan.error()));
    }
    auto client = net::client::make(std::move(plan->options));
    if (!client) {
        return std::unexpected(detail::to_error(client.error()));
    }
    return detail::begin_session(std::move(*client), std::move(plan->facts));
}

bucket cluster::bucket(std::string_view name) const {
    client_->client().open(name);
    return {client_, std::string(name)};
}

const std::string& cluster::bucket_name() const noexcept {
    return client_->bucket_name();
}

std::expected<void, error> cluster::wait_until_ready(duration timeout) const {
    return detail::run_call<void>(detail::make_target(client_, {}), detail::make_ping(timeout));
}

std::expected<void, error> cluster::replace_credentials(const credentials& identity) const {
    auto checked = detail::check_credentials(identity, client_->facts());
    if (!checked) {
        return std::unexpected(std::move(checked.error()));
    }
    const auto refused = client_->client().replace_credentials(identity);
    if (refused != net::refusal::none) {
        return std::unexpected(detail::to_error(refused));
    }
    return {};
}

void cluster::close() const {
    client_->client().close();
}

std::expected<void, error> cluster::drive(duration time) const {
    const std::shared_ptr<detail::session> held = client_;
    const auto refused = held->client().drive(time);
    if (refused != net::refusal::none) {
        return std::unexpected(detail::to_error(refused));
    }
    return {};
}

}  // namespace reprise::couchbase
