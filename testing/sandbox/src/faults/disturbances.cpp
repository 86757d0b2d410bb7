#include <algorithm>
#include <utility>
#include <vector>

#include <reprise/sandbox/cluster.hpp>

#include "cluster_state.hpp"
#include "key_value/session.hpp"

// The calls of `cluster` that disturb nodes, buckets and error codes.

namespace reprise::sandbox {

namespace {

using detail::bucket_record;
using detail::cluster_state;
using detail::node_bucket;
using detail::node_record;

}  // namespace

std::string_view to_string(tls_disturbance kind) noexcept {
    switch (kind) {
        case tls_disturbance::none:
            return "none";
        case tls_disturbance::untrusted:
            return "untrusted";
        case tls_disturbance::wrong_host:
            return "wrong_host";
        case tls_disturbance::expired:
            return "expired";
        case tls_disturbance::alert:
            return "alert";
        case tls_disturbance::reset:
            return "reset";
    }
    return "unknown";
}

std::string_view to_string(bucket_presence presence) noexcept {
    switch (presence) {
        case bucket_presence::full:
            return "full";
        case bucket_presence::absent:
            return "absent";
        case bucket_presence::config_only:
            return "config_only";
    }
    return "unknown";
}

// --- nodes --------------------------------------------------------------------------------------

std::expected<void, cluster_errc> cluster::kill(node_id node) {
    for (const auto& [number, which] : state_->sessions) {
        if (which->node() == node) {
            which->abort_from_cluster();
        }
    }
    return set_node_state(node, false);
}

std::expected<void, cluster_errc> cluster::disturb(node_id node, const node_disturbance& how) {
    node_record* found = state_->find_node(node);
    if (found == nullptr) {
        return std::unexpected(cluster_errc::unknown_node);
    }
    const bool was_silent = std::exchange(found->disturbance, how).is_silent();
    ++state_->node_generation;
    ++state_->node_generation;
    if (was_silent && !how.is_silent()) {
        for (const auto& [number, which] : state_->sessions) {
            if (which->node() == node) {
                which->resume();
            }
        }
    }
    return {};
}

node_disturbance cluster::disturbance_of(node_id node) const noexcept {
    const node_record* found = state_->find_node(node);
    return found == nullptr ? node_disturbance{} : found->disturbance;
}

std::expected<void, cluster_errc> cluster::replay_configuration(node_id node) {
    node_record* found = state_->find_node(node);
    if (found == nullptr) {
        return std::unexpected(cluster_errc::unknown_node);
    }
    const bool is_any_older = found->global_configuration.older().is_known() ||
                              std::ranges::any_of(found->buckets, [](const auto& entry) {
                                  return entry.second.configuration.older().is_known();
                              });
    if (!is_any_older) {
        return std::unexpected(cluster_errc::nothing_older);
    }
    for (const auto& [number, which] : state_->sessions) {
        if (which->node() == node) {
            which->replay_configuration();
        }
    }
    return {};
}

std::expected<void, cluster_errc> cluster::set_error_map_corruption(node_id node, bool is_corrupt) {
    node_disturbance how = disturbance_of(node);
    how.is_error_map_corrupt = is_corrupt;
    return disturb(node, how);
}

// --- buckets and collections --------------------------------------------------------------------

std::expected<void, cluster_errc> cluster::deny_bucket(
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

bool cluster::is_denied(std::string_view bucket, std::string_view user) const noexcept {
    const bucket_record* record = state_->find_bucket(bucket);
    return record != nullptr && record->is_denied(user);
}

std::expected<void, cluster_errc> cluster::set_bucket_presence(
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

std::expected<void, cluster_errc> cluster::hide_collection(
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

const wire::collections_manifest* cluster::manifest_at(
    node_id node, std::string_view bucket) const noexcept {
    node_record* found = state_->find_node(node);
    const bucket_record* record = state_->find_bucket(bucket);
    const node_bucket* local = found == nullptr ? nullptr : state_->find_present(*found, bucket);
    return record == nullptr || local == nullptr ? nullptr : &local->manifest(*record);
}

// --- durable writes -----------------------------------------------------------------------------

std::optional<time_point> cluster::next_due() const noexcept {
    return state_->pending_due == time_point::max() ? std::nullopt
                                                    : std::optional(state_->pending_due);
}

void cluster::on_time(time_point now) {
    state_->on_time(now);
}

void cluster::set_replication_delay(std::chrono::nanoseconds delay) {
    state_->options.replication_delay = std::max(delay, std::chrono::nanoseconds{0});
}

void cluster::set_recommit_delay(std::chrono::nanoseconds delay) {
    state_->options.recommit_delay = std::max(delay, std::chrono::nanoseconds{0});
}

void cluster::hold_recommit(bool is_held) {
    state_->is_recommit_held = is_held;
    state_->settle_pending(state_->time_seen);
}

std::size_t cluster::pending_write_count() const noexcept {
    return state_->pending.size();
}

}  // namespace reprise::sandbox
