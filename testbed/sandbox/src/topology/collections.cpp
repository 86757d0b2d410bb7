#include <algorithm>

#include <reprise/sandbox/bucket_list.hpp>

#include "cluster_state.hpp"

// The calls of `bucket_list` that change scopes and collections. Each creates a new manifest and a
// new configuration.

namespace reprise::sandbox {

namespace {

using detail::bucket_record;
using detail::cluster_state;

using uid_or_error = std::expected<std::uint64_t, cluster_errc>;

uid_or_error publish_manifest(cluster_state& state, bucket_record& bucket) {
    ++bucket.manifest.uid;
    for (const auto& node : state.nodes) {
        detail::node_bucket* local = state.find_local(*node, bucket.options.name);
        if (local != nullptr && local->names != nullptr) {
            local->names->rebuild(bucket);
        }
    }
    state.publish(bucket);
    return bucket.manifest.uid;
}

wire::manifest_scope* find_scope(bucket_record& bucket, std::string_view name) {
    const auto it = std::ranges::find(bucket.manifest.scopes, name, &wire::manifest_scope::name);
    return it == bucket.manifest.scopes.end() ? nullptr : &*it;
}

// The documents of a dropped collection can never be reached again, because its id is not reused.
void forget_documents(cluster_state& state, const bucket_record& bucket, std::uint32_t id) {
    ++state.removal_generation;
    for (const auto& node : state.nodes) {
        detail::node_bucket* local = state.find_local(*node, bucket.options.name);
        if (local == nullptr) {
            continue;
        }
        for (const auto& copy : local->vbuckets) {
            if (copy != nullptr) {
                const auto is_inside = [id](const auto& entry) {
                    return entry.first.collection == id;
                };
                std::erase_if(copy->documents, is_inside);
                std::erase_if(copy->prepares, is_inside);
            }
        }
    }
}

// A collection of a manifest, and where it is.
struct listed_collection {
    bucket_record* record;
    wire::manifest_scope* scope;
    std::vector<wire::manifest_collection>::iterator at;
};

std::expected<listed_collection, cluster_errc> find_listed(
    cluster_state& state, std::string_view bucket, std::string_view scope, std::string_view name) {
    bucket_record* record = state.find_bucket(bucket);
    if (record == nullptr) {
        return std::unexpected(cluster_errc::unknown_bucket);
    }
    wire::manifest_scope* found = find_scope(*record, scope);
    if (found == nullptr) {
        return std::unexpected(cluster_errc::unknown_scope);
    }
    const auto at = std::ranges::find(found->collections, name, &wire::manifest_collection::name);
    if (at == found->collections.end()) {
        return std::unexpected(cluster_errc::unknown_collection);
    }
    return listed_collection{record, found, at};
}

void forget_collection(cluster_state& state, bucket_record& bucket, std::uint32_t id) {
    bucket.collections.erase(id);
    bucket.created_uids.erase(id);
    forget_documents(state, bucket, id);
}

}  // namespace

uid_or_error bucket_list::create_scope(std::string_view bucket, std::string_view scope) {
    bucket_record* record = state_->find_bucket(bucket);
    if (record == nullptr || !record->options.has_collections) {
        return std::unexpected(cluster_errc::unknown_bucket);
    }
    if (!wire::is_valid_collection_name(scope, wire::name_origin::user)) {
        return std::unexpected(cluster_errc::name_invalid);
    }
    if (find_scope(*record, scope) != nullptr) {
        return std::unexpected(cluster_errc::already_exists);
    }
    record->manifest.scopes.push_back({std::string(scope), record->scope_id_next++, {}});
    return publish_manifest(*state_, *record);
}

uid_or_error bucket_list::drop_scope(std::string_view bucket, std::string_view scope) {
    bucket_record* record = state_->find_bucket(bucket);
    if (record == nullptr) {
        return std::unexpected(cluster_errc::unknown_bucket);
    }
    wire::manifest_scope* found = find_scope(*record, scope);
    if (found == nullptr) {
        return std::unexpected(cluster_errc::unknown_scope);
    }
    if (found->id == wire::default_scope.value) {
        return std::unexpected(cluster_errc::name_invalid);
    }
    for (const wire::manifest_collection& collection : found->collections) {
        forget_collection(*state_, *record, collection.id);
    }
    std::erase_if(record->manifest.scopes, [scope](const wire::manifest_scope& candidate) {
        return candidate.name == scope;
    });
    return publish_manifest(*state_, *record);
}

uid_or_error bucket_list::create_collection(
    std::string_view bucket, std::string_view scope, std::string_view collection,
    std::optional<std::int32_t> max_ttl) {
    bucket_record* record = state_->find_bucket(bucket);
    if (record == nullptr || !record->options.has_collections) {
        return std::unexpected(cluster_errc::unknown_bucket);
    }
    wire::manifest_scope* found = find_scope(*record, scope);
    if (found == nullptr) {
        return std::unexpected(cluster_errc::unknown_scope);
    }
    if (!wire::is_valid_collection_name(collection, wire::name_origin::user) ||
        max_ttl.value_or(0) < -1) {
        return std::unexpected(cluster_errc::name_invalid);
    }
    if (record->manifest.find_collection(scope, collection) != nullptr) {
        return std::unexpected(cluster_errc::already_exists);
    }
    const std::uint32_t id = record->collection_id_next++;
    found->collections.push_back({std::string(collection), id, max_ttl, std::nullopt});
    record->created_uids.emplace(id, record->manifest.uid + 1);
    record->collections.emplace(id, max_ttl.value_or(0));
    return publish_manifest(*state_, *record);
}

uid_or_error bucket_list::drop_collection(
    std::string_view bucket, std::string_view scope, std::string_view collection) {
    const auto found = find_listed(*state_, bucket, scope, collection);
    if (!found) {
        return std::unexpected(found.error());
    }
    forget_collection(*state_, *found->record, found->at->id);
    found->scope->collections.erase(found->at);
    return publish_manifest(*state_, *found->record);
}

uid_or_error bucket_list::set_collection_ttl(
    std::string_view bucket, std::string_view scope, std::string_view collection,
    std::optional<std::int32_t> max_ttl) {
    const auto found = find_listed(*state_, bucket, scope, collection);
    if (!found) {
        return std::unexpected(found.error());
    }
    found->at->max_ttl = max_ttl;
    found->record->collections.insert_or_assign(found->at->id, max_ttl.value_or(0));
    return publish_manifest(*state_, *found->record);
}

uid_or_error bucket_list::restore_default_collection(std::string_view bucket) {
    constexpr std::string_view name = "_default";
    bucket_record* record = state_->find_bucket(bucket);
    wire::manifest_scope* scope = record == nullptr ? nullptr : find_scope(*record, name);
    if (scope == nullptr || !record->options.has_collections) {
        return std::unexpected(cluster_errc::unknown_bucket);
    }
    if (record->manifest.find_collection(name, name) != nullptr) {
        return std::unexpected(cluster_errc::already_exists);
    }
    const std::uint32_t id = wire::default_collection.value;
    scope->collections.insert(
        scope->collections.begin(), {std::string(name), id, std::nullopt, std::nullopt});
    record->created_uids.emplace(id, record->manifest.uid + 1);
    record->collections.emplace(id, 0);
    return publish_manifest(*state_, *record);
}

uid_or_error bucket_list::recreate_collection(
    std::string_view bucket, std::string_view scope, std::string_view collection) {
    const bucket_record* record = state_->find_bucket(bucket);
    const wire::manifest_collection* old =
        record == nullptr ? nullptr : record->manifest.find_collection(scope, collection);
    const auto max_ttl = old == nullptr ? std::nullopt : old->max_ttl;
    if (old != nullptr && old->id == wire::default_collection.value) {
        // It can be dropped, but never created again.
        return std::unexpected(cluster_errc::name_invalid);
    }
    if (const auto dropped = drop_collection(bucket, scope, collection); !dropped) {
        return dropped;
    }
    return create_collection(bucket, scope, collection, max_ttl);
}

}  // namespace reprise::sandbox
