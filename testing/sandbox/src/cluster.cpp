#include <algorithm>
#include <utility>

#include <reprise/base/assert.hpp>
#include <reprise/sandbox/cluster.hpp>
#include <reprise/wire/vbucket.hpp>

#include "cluster_state.hpp"
#include "key_value/session.hpp"

namespace reprise::sandbox {

std::string_view to_string(cluster_errc code) noexcept {
    switch (code) {
        case cluster_errc::unknown_node:
            return "unknown node";
        case cluster_errc::unknown_bucket:
            return "unknown bucket";
        case cluster_errc::unknown_vbucket:
            return "unknown vbucket";
        case cluster_errc::unknown_scope:
            return "unknown scope";
        case cluster_errc::unknown_collection:
            return "unknown collection";
        case cluster_errc::unknown_user:
            return "unknown user";
        case cluster_errc::unknown_group:
            return "unknown group";
        case cluster_errc::already_exists:
            return "already exists";
        case cluster_errc::name_invalid:
            return "name is not allowed";
        case cluster_errc::node_down:
            return "node is down";
        case cluster_errc::last_node:
            return "the last node cannot leave";
        case cluster_errc::map_mismatch:
            return "map does not fit";
        case cluster_errc::too_many_connections:
            return "too many connections";
        case cluster_errc::too_many_nodes:
            return "too many nodes";
        case cluster_errc::not_failed_over:
            return "node was not failed over";
        case cluster_errc::rebalance_running:
            return "a rebalance is running";
        case cluster_errc::no_rebalance:
            return "no rebalance is running";
        case cluster_errc::no_replica:
            return "a vbucket of the node has no other copy";
        case cluster_errc::connections_refused:
            return "node refuses connections";
        case cluster_errc::nothing_older:
            return "node has no older configuration";
        case cluster_errc::unknown_code:
            return "unknown error code";
    }
    return "unknown";
}

cluster::cluster(std::unique_ptr<detail::cluster_state> state) noexcept
    : state_(std::move(state)) {}
cluster::cluster(cluster&&) noexcept = default;
cluster& cluster::operator=(cluster&&) noexcept = default;

cluster::~cluster() {
    // Connections refer to the state.
    REPRISE_ASSERT(state_ == nullptr || state_->sessions.empty());
}

std::expected<cluster, std::string> cluster::make(cluster_options options) {
    if (auto problem = find_problem(options)) {
        return std::unexpected(std::move(*problem));
    }
    return cluster(std::make_unique<detail::cluster_state>(std::move(options)));
}

const cluster_options& cluster::options() const noexcept {
    return state_->options;
}

std::expected<connection, cluster_errc> cluster::accept(
    node_id node, const accept_options& options) {
    detail::node_record* at = state_->find_node(node);
    if (at == nullptr) {
        return std::unexpected(cluster_errc::unknown_node);
    }
    if (at->state != node_state::up) {
        return std::unexpected(cluster_errc::node_down);
    }
    if (at->disturbance.refuses_connections) {
        return std::unexpected(cluster_errc::connections_refused);
    }
    if (state_->sessions.size() >= state_->options.connection_count_max) {
        return std::unexpected(cluster_errc::too_many_connections);
    }
    if (!options.certificate_user.empty() &&
        state_->accounts.find_user(options.certificate_user) == nullptr) {
        return std::unexpected(cluster_errc::unknown_user);
    }
    const connection_id id{state_->connection_id_next++};
    return connection(std::make_unique<detail::session>(*state_, *at, id, options));
}

std::size_t cluster::connection_count() const noexcept {
    return state_->sessions.size();
}

std::size_t cluster::connection_count(node_id node) const noexcept {
    return static_cast<std::size_t>(std::ranges::count_if(
        state_->sessions, [&](const auto& each) { return each.second->node() == node; }));
}

bool cluster::has_wakeups() const noexcept {
    return !state_->wakeups.empty();
}

void cluster::take_wakeups(std::vector<connection_id>& out) {
    for (const connection_id id : state_->wakeups) {
        const auto it = state_->sessions.find(id.value);
        if (it != state_->sessions.end()) {
            it->second->clear_woken();
            out.push_back(id);
        }
    }
    state_->wakeups.clear();
}

std::vector<std::string> cluster::buckets() const {
    std::vector<std::string> names;
    for (const auto& [name, bucket] : state_->buckets) {
        names.push_back(name);
    }
    return names;
}

std::expected<void, cluster_errc> cluster::create_bucket(const bucket_options& bucket) {
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

std::expected<void, cluster_errc> cluster::drop_bucket(std::string_view bucket) {
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

const wire::collections_manifest* cluster::manifest(std::string_view bucket) const noexcept {
    const detail::bucket_record* found = state_->find_bucket(bucket);
    return found == nullptr ? nullptr : &found->manifest;
}

std::expected<void, cluster_errc> cluster::set_bucket_settings(
    std::string_view bucket, bucket_settings settings) {
    detail::bucket_record* found = state_->find_bucket(bucket);
    if (found == nullptr) {
        return std::unexpected(cluster_errc::unknown_bucket);
    }
    found->options.settings = std::move(settings);
    return {};
}

account_list& cluster::accounts() noexcept {
    return state_->accounts;
}

const account_list& cluster::accounts() const noexcept {
    return state_->accounts;
}

error_code_list& cluster::error_codes() noexcept {
    return state_->error_codes;
}

namespace {

// The configuration of a bucket, or of the cluster for an empty name, as `node` knows it. Null if
// it does not.
const detail::known_configuration* find_configuration(
    detail::cluster_state& state, node_id node, std::string_view bucket) {
    detail::node_record* at = state.find_node(node);
    if (at == nullptr) {
        return nullptr;
    }
    const detail::node_bucket* local = state.find_present(*at, bucket);
    const detail::known_configuration* found = nullptr;
    if (bucket.empty()) {
        found = &at->global_configuration;
    } else if (local != nullptr) {
        found = &local->configuration;
    }
    return found != nullptr && found->is_known() ? found : nullptr;
}

}  // namespace

std::optional<std::string> cluster::configuration_text(
    node_id node, std::string_view bucket) const {
    const auto* found = find_configuration(*state_, node, bucket);
    if (found == nullptr) {
        return std::nullopt;
    }
    const bool is_corrupt = state_->find_node(node)->disturbance.is_configuration_corrupt;
    return is_corrupt ? std::string(detail::corrupted(found->text())) : found->text();
}

std::optional<wire::configuration_revision> cluster::configuration_revision(
    node_id node, std::string_view bucket) const {
    const auto* found = find_configuration(*state_, node, bucket);
    return found == nullptr ? std::nullopt : std::optional(found->revision());
}

std::uint64_t cluster::configuration_generation() const noexcept {
    return state_->generation;
}

std::uint64_t cluster::node_generation() const noexcept {
    return state_->node_generation;
}

std::uint64_t cluster::removal_generation() const noexcept {
    return state_->removal_generation;
}

fault_list& cluster::faults() noexcept {
    return state_->faults;
}

audit_log& cluster::audit() noexcept {
    return state_->audit;
}

const audit_log& cluster::audit() const noexcept {
    return state_->audit;
}

std::optional<document_snapshot> cluster::find_document(
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

}  // namespace reprise::sandbox
