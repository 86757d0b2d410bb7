#include <reprise/couchbase/management.hpp>

#include <algorithm>
#include <utility>

#include <reprise/services/management_request.hpp>
#include <reprise/services/query_index_statement.hpp>
#include <reprise/wire/collections_manifest.hpp>

#include "index_watch.hpp"
#include "service_calls.hpp"
#include "session.hpp"
#include "unsent_request.hpp"

namespace reprise::couchbase {
namespace {

template <class Problem>
std::unexpected<error> unreadable(const Problem& problem, operation_trace&& trace) {
    return std::unexpected(detail::unreadable_answer(to_string(problem), std::move(trace)));
}

services::bucket_definition to_definition(const bucket_settings& from) {
    services::bucket_definition to;
    to.name = from.name;
    to.type = static_cast<services::managed_bucket_type>(from.kind);
    to.ram_quota_mb = from.ram_quota_mb;
    to.replica_count = from.replica_count;
    to.is_flush_enabled = from.is_flush_enabled;
    to.expiry_max = from.expiry_max;
    to.eviction_policy = from.eviction_policy;
    to.compression_mode = from.compression_mode;
    to.durability_min_level = from.durability_min_level;
    to.storage_backend = from.storage_backend;
    return to;
}

bucket_settings to_settings(services::bucket_definition&& from) {
    return {
        .name = std::move(from.name),
        .kind = static_cast<bucket_kind>(from.type),
        .ram_quota_mb = from.ram_quota_mb,
        .replica_count = from.replica_count,
        .is_flush_enabled = from.is_flush_enabled,
        .expiry_max = from.expiry_max,
        .eviction_policy = std::move(from.eviction_policy),
        .compression_mode = std::move(from.compression_mode),
        .durability_min_level = std::move(from.durability_min_level),
        .storage_backend = std::move(from.storage_backend)};
}

static_assert(
    static_cast<int>(bucket_kind::memcached) ==
    static_cast<int>(services::managed_bucket_type::memcached));

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

services::index_keyspace to_keyspace(const index_target& on) {
    return {on.bucket, on.scope, on.collection};
}

std::expected<query_result, error> run_statement(
    const std::shared_ptr<detail::session>& client, std::string_view statement,
    const query_options& options) {
    return detail::run_work<query_result>(
        detail::make_query_work(client, {}, statement, options, detail::row_mode::kept));
}

std::expected<change_result, error> change_index(
    const std::shared_ptr<detail::session>& client, std::string_view statement,
    const query_options& options) {
    auto done = run_statement(client, statement, options);
    if (!done) {
        return std::unexpected(std::move(done.error()));
    }
    return change_result{std::move(done->trace)};
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
    return bucket_result{to_settings(std::move(*parsed)), std::move(answer.trace)};
}

template <>
std::expected<bucket_list_result, error> read_answer(management_response&& answer) {
    auto parsed = services::parse_bucket_list(answer.body);
    if (!parsed) {
        return unreadable(parsed.error(), std::move(answer.trace));
    }
    bucket_list_result result{{}, std::move(answer.trace)};
    result.buckets.reserve(parsed->size());
    for (auto& each : *parsed) {
        result.buckets.push_back(to_settings(std::move(each)));
    }
    return result;
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
template void start_work(const service_work&, result_receiver<change_result>*, call_ticket);
template std::expected<bucket_result, error> run_work(const service_work&);
template void start_work(const service_work&, result_receiver<bucket_result>*, call_ticket);
template std::expected<bucket_list_result, error> run_work(const service_work&);
template void start_work(const service_work&, result_receiver<bucket_list_result>*, call_ticket);
template std::expected<scope_list_result, error> run_work(const service_work&);
template void start_work(const service_work&, result_receiver<scope_list_result>*, call_ticket);

service_work make_bucket_work(
    const std::shared_ptr<session>& client, bucket_change change, const bucket_settings& bucket,
    const management_options& options) {
    const services::bucket_definition asked = to_definition(bucket);
    return make_call_work(
        client,
        change == bucket_change::create ? services::make_create_bucket_call(asked)
                                        : services::make_update_bucket_call(asked),
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
    const services::collection_definition asked{
        collection.scope, collection.name, collection.expiry_max, collection.has_history};
    return make_call_work(client, services::make_create_collection_call(bucket, asked), options);
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

std::expected<change_result, error> query_index_manager::create(
    const query_index& index, const query_options& options) const {
    services::query_index_definition asked;
    asked.on = to_keyspace(index.on);
    asked.name = index.name;
    asked.is_primary = index.is_primary;
    asked.keys = index.keys;
    asked.condition = index.condition;
    asked.is_deferred = index.is_deferred;
    asked.replica_count = index.replica_count;
    return change_index(client_, services::make_create_index_statement(asked), options);
}

std::expected<change_result, error> query_index_manager::drop(
    const index_target& on, std::string_view name, const query_options& options) const {
    return change_index(
        client_, services::make_drop_index_statement(to_keyspace(on), name), options);
}

std::expected<change_result, error> query_index_manager::build(
    const index_target& on, const std::vector<std::string>& names,
    const query_options& options) const {
    return change_index(
        client_, services::make_build_index_statement(to_keyspace(on), names), options);
}

std::expected<query_index_list_result, error> query_index_manager::list(
    const index_target& on, const query_options& options) const {
    const auto asked = services::make_list_indexes_request(to_keyspace(on));
    query_options readonly = options;
    readonly.readonly = true;
    for (const auto& each : asked.parameters) {
        readonly.named.emplace_back(each.name, json_text{each.json});
    }
    for (const auto& each : asked.args) {
        readonly.positional.emplace_back(json_text{each});
    }
    auto answer = run_statement(client_, asked.statement, readonly);
    if (!answer) {
        return std::unexpected(std::move(answer.error()));
    }
    query_index_list_result result;
    result.indexes.reserve(answer->rows.size());
    for (const row_view row : answer->rows) {
        auto parsed = services::parse_query_index_row(row.text());
        if (!parsed) {
            return unreadable(parsed.error(), std::move(answer->trace));
        }
        query_index made;
        made.on = {parsed->on.bucket, parsed->on.scope, parsed->on.collection};
        made.name = std::move(parsed->name);
        made.is_primary = parsed->is_primary;
        made.keys = std::move(parsed->keys);
        made.condition = std::move(parsed->condition);
        made.is_deferred = parsed->state == "deferred";
        made.state = std::move(parsed->state);
        result.indexes.push_back(std::move(made));
    }
    result.trace = std::move(answer->trace);
    return result;
}

std::expected<change_result, error> query_index_manager::build_deferred(
    const index_target& on, const query_options& options) const {
    auto listed = list(on, options);
    if (!listed) {
        return std::unexpected(std::move(listed.error()));
    }
    std::vector<std::string> deferred;
    for (query_index& each : listed->indexes) {
        if (each.is_deferred) {
            deferred.push_back(std::move(each.name));
        }
    }
    return deferred.empty() ? change_result{std::move(listed->trace)}
                            : build(on, deferred, options);
}

std::expected<query_index_list_result, error> query_index_manager::watch(
    const index_target& on, const std::vector<std::string>& names, duration timeout,
    const query_options& options) const {
    const auto list_in = [&](duration left) {
        query_options bounded = options;
        bounded.timeout = std::min(options.timeout.value_or(left), left);
        return list(on, bounded);
    };
    return detail::watch_indexes(
        names, timeout, retry_clock::real(), client_->client().closed(), list_in);
}

std::expected<change_result, error> collection_index_manager::create(
    query_index index, const query_options& options) const {
    index.on = on_;
    return manager_.create(index, options);
}

std::expected<change_result, error> collection_index_manager::create_primary(
    const query_options& options) const {
    return create({.is_primary = true}, options);
}

std::expected<change_result, error> collection_index_manager::drop(
    std::string_view name, const query_options& options) const {
    return manager_.drop(on_, name, options);
}

std::expected<change_result, error> collection_index_manager::drop_primary(
    const query_options& options) const {
    return manager_.drop(on_, {}, options);
}

std::expected<change_result, error> collection_index_manager::build(
    const std::vector<std::string>& names, const query_options& options) const {
    return manager_.build(on_, names, options);
}

std::expected<change_result, error> collection_index_manager::build_deferred(
    const query_options& options) const {
    return manager_.build_deferred(on_, options);
}

std::expected<query_index_list_result, error> collection_index_manager::list(
    const query_options& options) const {
    return manager_.list(on_, options);
}

std::expected<query_index_list_result, error> collection_index_manager::watch(
    const std::vector<std::string>& names, duration timeout, const query_options& options) const {
    return manager_.watch(on_, names, timeout, options);
}

}  // namespace reprise::couchbase
