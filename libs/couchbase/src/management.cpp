#include <reprise/couchbase/management.hpp>

#include <utility>

#include <reprise/services/management_request.hpp>
#include <reprise/wire/collections_manifest.hpp>

#include "service_calls.hpp"
#include "session.hpp"
#include "unsent_request.hpp"

namespace reprise::couchbase {
namespace {

template <class Problem>
std::unexpected<error> unreadable(const Problem& problem, operation_trace&& trace) {
    return std::unexpected(detail::unreadable_answer(to_string(problem), std::move(trace)));
}

scope_settings to_settings(const wire::manifest_scope& from) {
    scope_settings to{from.name, {}};
    for (const auto& each : from.collections) {
        collection_settings made{from.name, each.name, std::nullopt, each.history};
        if (each.max_ttl) {
            made.expiry_max = std::chrono::seconds{*each.max_ttl};
        }
        to.collections.push_back(std::move(made));
    }
    return to;
}

}  // namespace

namespace detail {

template <>
std::expected<change_result, error> read_answer(management_response&& answer) {
    return change_result{std::move(answer.trace)};
}

template <>
std::expected<bucket_result, error> read_answer(management_response&& answer) {
    auto parsed = services::parse_bucket(answer.body);
    if (!parsed) {
        return unreadable(parsed.error(), std::move(answer.trace));
    }
    return bucket_result{std::move(*parsed), std::move(answer.trace)};
}

template <>
std::expected<bucket_list_result, error> read_answer(management_response&& answer) {
    auto parsed = services::parse_bucket_list(answer.body);
    if (!parsed) {
        return unreadable(parsed.error(), std::move(answer.trace));
    }
    return bucket_list_result{std::move(*parsed), std::move(answer.trace)};
}

template <>
std::expected<scope_list_result, error> read_answer(management_response&& answer) {
    const auto manifest = wire::parse_collections_manifest(answer.body);
    if (!manifest) {
        return unreadable(manifest.error(), std::move(answer.trace));
    }
    scope_list_result result{{}, std::move(answer.trace)};
    result.scopes.reserve(manifest->scopes.size());
    for (const auto& each : manifest->scopes) {
        result.scopes.push_back(to_settings(each));
    }
    return result;
}

template std::expected<change_result, error> run_work(const service_work&);
template void start_work(const service_work&, const result_receiver<change_result>&, call_ticket);
template std::expected<bucket_result, error> run_work(const service_work&);
template void start_work(const service_work&, const result_receiver<bucket_result>&, call_ticket);
template std::expected<bucket_list_result, error> run_work(const service_work&);
template void start_work(
    const service_work&, const result_receiver<bucket_list_result>&, call_ticket);
template std::expected<scope_list_result, error> run_work(const service_work&);
template void start_work(
    const service_work&, const result_receiver<scope_list_result>&, call_ticket);

service_work make_bucket_work(
    const std::shared_ptr<session>& client, bucket_change change, const bucket_settings& bucket,
    const management_options& options) {
    return make_call_work(
        client,
        change == bucket_change::create ? services::make_create_bucket_call(bucket)
                                        : services::make_update_bucket_call(bucket),
        options);
}

service_work make_drop_bucket_work(
    const std::shared_ptr<session>& client, std::string_view name,
    const management_options& options) {
    return make_call_work(client, services::make_drop_bucket_call(name), options);
}

service_work make_flush_bucket_work(
    const std::shared_ptr<session>& client, std::string_view name,
    const management_options& options) {
    return make_call_work(client, services::make_flush_bucket_call(name), options);
}

service_work make_get_bucket_work(
    const std::shared_ptr<session>& client, std::string_view name,
    const management_options& options) {
    return make_call_work(client, services::make_get_bucket_call(name), options);
}

service_work make_list_buckets_work(
    const std::shared_ptr<session>& client, const management_options& options) {
    return make_call_work(client, services::make_list_buckets_call(), options);
}

service_work make_create_scope_work(
    const std::shared_ptr<session>& client, std::string_view bucket, std::string_view name,
    const management_options& options) {
    return make_call_work(client, services::make_create_scope_call(bucket, name), options);
}

service_work make_drop_scope_work(
    const std::shared_ptr<session>& client, std::string_view bucket, std::string_view name,
    const management_options& options) {
    return make_call_work(client, services::make_drop_scope_call(bucket, name), options);
}

service_work make_create_collection_work(
    const std::shared_ptr<session>& client, std::string_view bucket,
    const collection_settings& collection, const management_options& options) {
    return make_call_work(
        client, services::make_create_collection_call(bucket, collection), options);
}

service_work make_drop_collection_work(
    const std::shared_ptr<session>& client, std::string_view bucket, std::string_view scope,
    std::string_view name, const management_options& options) {
    return make_call_work(
        client, services::make_drop_collection_call(bucket, scope, name), options);
}

service_work make_list_scopes_work(
    const std::shared_ptr<session>& client, std::string_view bucket,
    const management_options& options) {
    return make_call_work(client, services::make_list_scopes_call(bucket), options);
}

}  // namespace detail

std::expected<change_result, error> bucket_manager::create(
    const bucket_settings& bucket, const management_options& options) const {
    return detail::run_work<change_result>(
        detail::make_bucket_work(client_, detail::bucket_change::create, bucket, options));
}

std::expected<change_result, error> bucket_manager::update(
    const bucket_settings& bucket, const management_options& options) const {
    return detail::run_work<change_result>(
        detail::make_bucket_work(client_, detail::bucket_change::update, bucket, options));
}

std::expected<change_result, error> bucket_manager::drop(
    std::string_view name, const management_options& options) const {
    return detail::run_work<change_result>(detail::make_drop_bucket_work(client_, name, options));
}

std::expected<change_result, error> bucket_manager::flush(
    std::string_view name, const management_options& options) const {
    return detail::run_work<change_result>(detail::make_flush_bucket_work(client_, name, options));
}

std::expected<bucket_result, error> bucket_manager::get(
    std::string_view name, const management_options& options) const {
    return detail::run_work<bucket_result>(detail::make_get_bucket_work(client_, name, options));
}

std::expected<bucket_list_result, error> bucket_manager::list(
    const management_options& options) const {
    return detail::run_work<bucket_list_result>(detail::make_list_buckets_work(client_, options));
}

std::expected<change_result, error> collection_manager::create_scope(
    std::string_view name, const management_options& options) const {
    return detail::run_work<change_result>(
        detail::make_create_scope_work(client_, bucket_, name, options));
}

std::expected<change_result, error> collection_manager::drop_scope(
    std::string_view name, const management_options& options) const {
    return detail::run_work<change_result>(
        detail::make_drop_scope_work(client_, bucket_, name, options));
}

std::expected<change_result, error> collection_manager::create_collection(
    const collection_settings& collection, const management_options& options) const {
    return detail::run_work<change_result>(
        detail::make_create_collection_work(client_, bucket_, collection, options));
}

std::expected<change_result, error> collection_manager::drop_collection(
    std::string_view scope, std::string_view name, const management_options& options) const {
    return detail::run_work<change_result>(
        detail::make_drop_collection_work(client_, bucket_, scope, name, options));
}

std::expected<scope_list_result, error> collection_manager::list(
    const management_options& options) const {
    return detail::run_work<scope_list_result>(
        detail::make_list_scopes_work(client_, bucket_, options));
}

}  // namespace reprise::couchbase
