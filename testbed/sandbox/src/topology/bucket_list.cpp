#include <reprise/sandbox/bucket_list.hpp>

#include <algorithm>
#include <utility>

#include <reprise/wire/vbucket.hpp>

#include "cluster_state.hpp"
#include "key_value/session.hpp"

// Buckets and documents; collections.cpp has the scopes and collections.

namespace reprise::sandbox {

namespace {

using detail::bucket_record;
using detail::node_bucket;
using detail::node_record;

}  // namespace

std::vector<std::string> bucket_list::names() const {
    std::vector<std::string> names;
    names.reserve(state_->buckets.size());
    for (const auto& [name, bucket] : state_->buckets) {
        names.push_back(name);
    }
    return names;
}

std::expected<void, cluster_errc> bucket_list::create(const bucket_options& bucket) {
    if (state_->find_bucket(bucket.name) != nullptr) {
        return std::unexpected(cluster_errc::already_exists);
    }
    if (find_problem(bucket)) {
        return std::unexpected(cluster_errc::name_invalid);
    }
    if (state_->rebalance) {
        return std::unexpected(cluster_errc::rebalance_running);
    }
    state_->add_bucket(bucket);
    state_->publish(*state_->find_bucket(bucket.name));
    return {};
}

std::expected<void, cluster_errc> bucket_list::drop(std::string_view bucket) {
    const auto it = state_->buckets.find(bucket);
    if (it == state_->buckets.end()) {
        return std::unexpected(cluster_errc::unknown_bucket);
    }
    if (state_->rebalance) {
        return std::unexpected(cluster_errc::rebalance_running);
    }
    state_->close_sessions(bucket);
    for (const auto& node : state_->nodes) {
        if (const auto local = node->buckets.find(bucket); local != node->buckets.end()) {
            node->buckets.erase(local);
        }
    }
    state_->buckets.erase(it);
    ++state_->generation;
    ++state_->removal_generation;
    state_->settle_pending(state_->time_seen);
    return {};
}

const wire::collections_manifest* bucket_list::manifest(std::string_view bucket) const noexcept {
    const detail::bucket_record* found = state_->find_bucket(bucket);
    return found == nullptr ? nullptr : &found->manifest;
}

std::expected<void, cluster_errc> bucket_list::set_settings(
    std::string_view bucket, bucket_settings settings) {
    detail::bucket_record* found = state_->find_bucket(bucket);
    if (found == nullptr) {
        return std::unexpected(cluster_errc::unknown_bucket);
    }
    found->options.settings = std::move(settings);
    return {};
}

std::optional<document_snapshot> bucket_list::find_document(
    std::string_view bucket, wire::collection_id collection, std::string_view key, time_point now,
    std::optional<node_id> on_node) const {
    const std::size_t number = wire::vbucket_of(key, state_->options.vbucket_count).value;
    const detail::bucket_record* record = state_->find_bucket(bucket);
    if (record == nullptr) {
        return std::nullopt;
    }
    const std::int16_t node =
        on_node ? static_cast<std::int16_t>(on_node->value) : record->rows[number][0];
    const detail::vbucket* copy = state_->find_copy(node, bucket, number);
    const detail::document* found = copy == nullptr ? nullptr : copy->find({collection.value, key});
    if (found == nullptr) {
        return std::nullopt;
    }
    document_snapshot shown;
    std::string scratch;
    shown.value = detail::plain_value(*found, scratch);
    shown.xattrs = found->xattrs.text();
    shown.flags = found->flags;
    shown.expiry = found->is_deleted ? 0 : found->expiry;
    shown.cas = found->cas;
    shown.seqno = found->seqno;
    shown.revision = found->revision;
    shown.is_deleted = found->is_deleted || found->is_expired(detail::seconds_of(now));
    shown.is_locked = found->is_locked(now);
    return shown;
}

std::uint64_t bucket_list::removal_generation() const noexcept {
    return state_->removal_generation;
}

// --- disturbances -------------------------------------------------------------------------------

std::expected<void, cluster_errc> bucket_list::deny(
    std::string_view bucket, std::string_view user, bool is_denied) {
    bucket_record* record = state_->find_bucket(bucket);
    if (record == nullptr) {
        return std::unexpected(cluster_errc::unknown_bucket);
    }
    if (!user.empty() && state_->accounts.find_user(user) == nullptr) {
        return std::unexpected(cluster_errc::unknown_user);
    }
    if (is_denied) {
        record->denied_users.emplace(user);
    } else if (const auto it = record->denied_users.find(user); it != record->denied_users.end()) {
        record->denied_users.erase(it);
    }
    return {};
}

bool bucket_list::is_denied(std::string_view bucket, std::string_view user) const noexcept {
    const bucket_record* record = state_->find_bucket(bucket);
    return record != nullptr && record->is_denied(user);
}

std::expected<void, cluster_errc> bucket_list::set_presence(
    node_id node, std::string_view bucket, bucket_presence presence) {
    node_record* found = state_->find_node(node);
    if (found == nullptr) {
        return std::unexpected(cluster_errc::unknown_node);
    }
    node_bucket* local = state_->find_local(*found, bucket);
    if (local == nullptr) {
        return std::unexpected(cluster_errc::unknown_bucket);
    }
    local->presence = presence;
    if (presence == bucket_presence::absent) {
        for (const auto& [number, which] : state_->sessions) {
            if (which->node() == node && which->bucket_name() == bucket) {
                which->close_from_cluster();
            }
        }
    }
    return {};
}

// Computes the bucket's manifest without the hidden collections, with a uid from before all of
// them. The other collections are as they are now.
void detail::older_names::rebuild(const bucket_record& bucket) {
    manifest = bucket.manifest;
    for (const std::uint32_t id : hidden) {
        const auto created = bucket.created_uids.find(id);
        const std::uint64_t before = created == bucket.created_uids.end() ? 0 : created->second - 1;
        manifest.uid = std::min(manifest.uid, before);
    }
    for (wire::manifest_scope& scope : manifest.scopes) {
        std::erase_if(scope.collections, [this](const wire::manifest_collection& each) {
            return hidden.contains(each.id);
        });
    }
}

std::expected<void, cluster_errc> bucket_list::hide_collection(
    node_id node, std::string_view bucket, std::string_view scope, std::string_view collection,
    bool is_hidden) {
    node_record* found = state_->find_node(node);
    if (found == nullptr) {
        return std::unexpected(cluster_errc::unknown_node);
    }
    const bucket_record* record = state_->find_bucket(bucket);
    node_bucket* local = state_->find_local(*found, bucket);
    if (record == nullptr || local == nullptr) {
        return std::unexpected(cluster_errc::unknown_bucket);
    }
    if (record->manifest.find_scope(scope) == nullptr) {
        return std::unexpected(cluster_errc::unknown_scope);
    }
    const wire::manifest_collection* wanted = record->manifest.find_collection(scope, collection);
    if (wanted == nullptr) {
        return std::unexpected(cluster_errc::unknown_collection);
    }
    if (local->names == nullptr) {
        local->names = std::make_unique<detail::older_names>();
    }
    if (is_hidden) {
        local->names->hidden.insert(wanted->id);
    } else {
        local->names->hidden.erase(wanted->id);
    }
    if (local->names->hidden.empty()) {
        local->names.reset();
    } else {
        local->names->rebuild(*record);
    }
    return {};
}

const wire::collections_manifest* bucket_list::manifest_at(
    node_id node, std::string_view bucket) const noexcept {
    node_record* found = state_->find_node(node);
    const bucket_record* record = state_->find_bucket(bucket);
    const node_bucket* local = found == nullptr ? nullptr : state_->find_present(*found, bucket);
    return record == nullptr || local == nullptr ? nullptr : &local->manifest(*record);
}

}  // namespace reprise::sandbox
