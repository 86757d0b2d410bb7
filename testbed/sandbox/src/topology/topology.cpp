#include <algorithm>
#include <utility>

#include <reprise/sandbox/cluster_topology.hpp>

#include <reprise/base/enum_table.hpp>

#include "cluster_state.hpp"
#include "key_value/session.hpp"

namespace reprise::sandbox {

namespace {

using detail::bucket_record;
using detail::cluster_state;
using detail::node_record;
using detail::vbucket;
using detail::vbucket_state;

std::int16_t number_of(node_id node) noexcept {
    return static_cast<std::int16_t>(node.value);
}

// Makes a copy what a process finds that has lost its data.
void lose_data(
    cluster_state& state, const bucket_record& bucket, std::size_t number, vbucket& copy) {
    const vbucket_state role = copy.state;
    const vbucket* active = state.find_copy(bucket.rows[number][0], bucket.options.name, number);
    copy = vbucket{};
    copy.state = role;
    if (role == vbucket_state::active || active == nullptr) {
        copy.begin_history(state.random_uuid());
    } else {
        copy.failover_log = active->failover_log;
    }
}

}  // namespace

std::string_view to_string(node_state state) noexcept {
    return base::name_of(state);
}

std::vector<node_id> cluster_topology::nodes() const {
    std::vector<node_id> ids;
    for (const node_record* node : detail::configured_nodes(*state_)) {
        ids.push_back(node->id);
    }
    return ids;
}

std::optional<node_state> cluster_topology::state_of(node_id node) const noexcept {
    return node.value < state_->nodes.size() ? std::optional(state_->nodes[node.value]->state)
                                             : std::nullopt;
}

std::expected<void, cluster_errc> cluster_topology::set_endpoints(
    node_id node, wire::cluster_node endpoints) {
    node_record* found = state_->find_node(node);
    if (found == nullptr) {
        return std::unexpected(cluster_errc::unknown_node);
    }
    found->endpoints = std::move(endpoints);
    state_->publish_all();
    return {};
}

const wire::cluster_node* cluster_topology::endpoints_of(node_id node) const noexcept {
    const node_record* found = state_->find_node(node);
    return found == nullptr ? nullptr : &found->endpoints;
}

std::expected<void, cluster_errc> cluster_topology::set_node_state(node_id node, bool is_up) {
    node_record* found = state_->find_node(node);
    if (found == nullptr) {
        return std::unexpected(cluster_errc::unknown_node);
    }
    found->state = is_up ? node_state::up : node_state::down;
    ++state_->node_generation;
    if (!is_up) {
        state_->close_sessions(*found);
        for (auto& [name, local] : found->buckets) {
            for (const auto& copy : local.vbuckets) {
                if (copy != nullptr && copy->state == vbucket_state::active) {
                    copy->begin_recommit();  // once it is up again
                }
            }
        }
        return {};
    }
    if (!state_->is_replication_held) {
        state_->catch_up_replicas();
    }
    state_->settle_pending(state_->time_seen);
    return {};
}

std::expected<void, cluster_errc> cluster_topology::kill(node_id node) {
    for (const auto& [number, which] : state_->sessions) {
        if (which->node() == node) {
            which->abort_from_cluster();
        }
    }
    return set_node_state(node, false);
}

std::expected<void, cluster_errc> cluster_topology::restart(
    node_id node, restart_kind kind, const restart_warmup& warmup) {
    node_record* found = state_->find_node(node);
    if (found == nullptr) {
        return std::unexpected(cluster_errc::unknown_node);
    }
    state_->close_sessions(*found);
    found->state = node_state::up;
    found->silent_until = state_->time_seen + warmup.silence;
    found->absent_until = state_->time_seen + std::max(warmup.silence, warmup.absence);
    ++state_->node_generation;
    for (auto& [name, local] : found->buckets) {
        const bucket_record& bucket = *state_->find_bucket(name);
        for (std::size_t number = 0; number < local.vbuckets.size(); ++number) {
            vbucket* copy = local.vbuckets[number].get();
            if (copy != nullptr && kind == restart_kind::without_data) {
                lose_data(*state_, bucket, number, *copy);
            } else if (copy != nullptr) {
                copy->forget_locks();
                copy->begin_recommit();
            }
        }
    }
    if (!state_->is_replication_held) {
        state_->catch_up_replicas();
    }
    state_->settle_pending(state_->time_seen);
    return {};
}

std::expected<void, cluster_errc> cluster_topology::failover(node_id node) {
    if (state_->find_node(node) == nullptr) {
        return std::unexpected(cluster_errc::unknown_node);
    }
    if (detail::configured_nodes(*state_).size() == 1) {
        return std::unexpected(cluster_errc::last_node);
    }
    if (state_->rebalance) {
        detail::end_rebalance(*state_, rebalance_end::stopped);
    }
    detail::take_out(*state_, node, node_state::failed_over);
    state_->publish_all();
    return {};
}

std::expected<node_id, cluster_errc> cluster_topology::add_node(
    std::optional<wire::cluster_node> endpoints) {
    // Rows store node numbers in 16 bits, and numbers are not reused.
    constexpr std::size_t number_count_max = 0x7fff;
    if (state_->rebalance) {
        return std::unexpected(cluster_errc::rebalance_running);
    }
    if (detail::configured_nodes(*state_).size() >= node_count_max ||
        state_->nodes.size() >= number_count_max) {
        return std::unexpected(cluster_errc::too_many_nodes);
    }
    node_record& added = state_->add_node();
    added.is_joining = true;
    ++state_->node_generation;
    if (endpoints) {
        added.endpoints = std::move(*endpoints);
    }
    state_->publish_all();
    return added.id;
}

std::expected<void, cluster_errc> cluster_topology::add_back(node_id node) {
    if (state_of(node).value_or(node_state::left) == node_state::left) {
        return std::unexpected(cluster_errc::unknown_node);
    }
    if (state_of(node) != node_state::failed_over) {
        return std::unexpected(cluster_errc::not_failed_over);
    }
    if (state_->rebalance) {
        return std::unexpected(cluster_errc::rebalance_running);
    }
    node_record& returning = *state_->nodes[node.value];
    returning.state = node_state::up;
    ++state_->node_generation;
    returning.is_joining = true;
    state_->publish_all();
    return {};
}

std::vector<node_overview> cluster_topology::overview() const {
    std::vector<node_overview> nodes;
    for (const auto& node : state_->nodes) {
        if (node->state == node_state::left) {
            continue;
        }
        node_overview& shown = nodes.emplace_back();
        shown.node = node->id;
        shown.state = node->state;
        shown.is_joining = node->is_joining;
        for (const auto& [name, bucket] : state_->buckets) {
            for (const auto& row : bucket->rows) {
                const auto place = std::ranges::find(row, number_of(node->id));
                shown.active_count += place == row.begin() ? 1u : 0u;
                shown.replica_count += place != row.begin() && place != row.end() ? 1u : 0u;
            }
        }
    }
    return nodes;
}

std::expected<void, cluster_errc> cluster_topology::move_vbucket(
    std::string_view bucket, wire::vbucket_id which, node_id to) {
    bucket_record* record = state_->find_bucket(bucket);
    node_record* target = state_->find_node(to);
    if (record == nullptr) {
        return std::unexpected(cluster_errc::unknown_bucket);
    }
    if (which.value >= record->rows.size()) {
        return std::unexpected(cluster_errc::unknown_vbucket);
    }
    if (target == nullptr || target->is_joining) {
        return std::unexpected(cluster_errc::unknown_node);
    }
    if (target->state != node_state::up) {
        return std::unexpected(cluster_errc::node_down);
    }
    if (state_->rebalance) {
        return std::unexpected(cluster_errc::rebalance_running);
    }
    std::vector<std::int16_t> row = record->rows[which.value];
    const std::int16_t from = row[0];
    if (from == number_of(to)) {
        return {};
    }
    std::ranges::replace(row, number_of(to), from);
    row[0] = number_of(to);
    detail::place_vbucket(*state_, *record, which.value, row);
    state_->publish(*record);
    return {};
}

std::expected<void, cluster_errc> cluster_topology::set_forward_map(
    std::string_view bucket, wire::vbucket_rows rows) {
    bucket_record* record = state_->find_bucket(bucket);
    if (record == nullptr) {
        return std::unexpected(cluster_errc::unknown_bucket);
    }
    if (state_->rebalance) {
        return std::unexpected(cluster_errc::rebalance_running);
    }
    if (!rows.empty() && rows.size() != record->rows.size()) {
        return std::unexpected(cluster_errc::map_mismatch);
    }
    for (const auto& row : rows) {
        const bool is_sound =
            !row.empty() && row.size() <= 4 && std::ranges::all_of(row, [this](std::int16_t node) {
                if (node < 0) {
                    return node == -1;
                }
                const auto* named = state_->find_node(node_id{static_cast<std::uint32_t>(node)});
                return named != nullptr && named->is_member();
            });
        if (!is_sound) {
            return std::unexpected(cluster_errc::map_mismatch);
        }
    }
    record->forward_rows = std::move(rows);
    state_->publish(*record);
    return {};
}

std::optional<node_id> cluster_topology::active_node(
    std::string_view bucket, wire::vbucket_id which) const {
    const bucket_record* record = state_->find_bucket(bucket);
    if (record == nullptr || which.value >= record->rows.size() ||
        record->rows[which.value][0] < 0) {
        return std::nullopt;
    }
    return node_id{static_cast<std::uint32_t>(record->rows[which.value][0])};
}

std::vector<std::int16_t> cluster_topology::copies_of(
    std::string_view bucket, wire::vbucket_id which) const {
    const bucket_record* record = state_->find_bucket(bucket);
    if (record == nullptr || which.value >= record->rows.size()) {
        return {};
    }
    return record->rows[which.value];
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

std::optional<std::string> cluster_topology::configuration_text(
    node_id node, std::string_view bucket) const {
    const auto* found = find_configuration(*state_, node, bucket);
    if (found == nullptr) {
        return std::nullopt;
    }
    const bool is_corrupt = state_->find_node(node)->disturbance.is_configuration_corrupt;
    return is_corrupt ? std::string(detail::corrupted(found->text())) : found->text();
}

std::optional<wire::configuration_revision> cluster_topology::configuration_revision(
    node_id node, std::string_view bucket) const {
    const auto* found = find_configuration(*state_, node, bucket);
    return found == nullptr ? std::nullopt : std::optional(found->revision());
}

std::uint64_t cluster_topology::configuration_generation() const noexcept {
    return state_->generation;
}

std::uint64_t cluster_topology::node_generation() const noexcept {
    return state_->node_generation;
}

}  // namespace reprise::sandbox
