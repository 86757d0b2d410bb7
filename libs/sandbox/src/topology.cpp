#include <algorithm>
#include <utility>

#include <reprise/sandbox/cluster.hpp>

#include "cluster_state.hpp"
#include "session.hpp"

// The calls of `cluster` that change nodes and who holds which vbucket.

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

// Takes a node out of a row: the first replica on a node that is up becomes active; places of
// copies that are gone stay empty at the end.
void leave_row(cluster_state& state, bucket_record& bucket, std::size_t number, std::int16_t node) {
    auto& row = bucket.rows[number];
    if (row[0] != node) {
        std::ranges::replace(row, node, std::int16_t{-1});
        return;
    }
    row[0] = -1;
    for (std::size_t k = 1; k < row.size(); ++k) {
        vbucket* copy =
            state.is_up(row[k]) ? state.find_copy(row[k], bucket.options.name, number) : nullptr;
        if (copy != nullptr) {
            copy->state = vbucket_state::active;
            copy->begin_history(state.random_uuid());
            row[0] = row[k];
            row.erase(row.begin() + static_cast<std::ptrdiff_t>(k));
            row.push_back(-1);
            return;
        }
    }
}

}  // namespace

std::vector<node_id> cluster::nodes() const {
    std::vector<node_id> ids;
    for (const node_record* node : detail::configured_nodes(*state_)) {
        ids.push_back(node->id);
    }
    return ids;
}

std::optional<node_state> cluster::state_of(node_id node) const noexcept {
    return node.value < state_->nodes.size() ? std::optional(state_->nodes[node.value]->state)
                                             : std::nullopt;
}

std::expected<void, cluster_errc> cluster::set_endpoints(
    node_id node, wire::cluster_node endpoints) {
    node_record* found = state_->find_node(node);
    if (found == nullptr) {
        return std::unexpected(cluster_errc::unknown_node);
    }
    found->endpoints = std::move(endpoints);
    state_->publish_all();
    return {};
}

const wire::cluster_node* cluster::endpoints_of(node_id node) const noexcept {
    const node_record* found = state_->find_node(node);
    return found == nullptr ? nullptr : &found->endpoints;
}

std::expected<void, cluster_errc> cluster::set_node_state(node_id node, bool is_up) {
    node_record* found = state_->find_node(node);
    if (found == nullptr) {
        return std::unexpected(cluster_errc::unknown_node);
    }
    found->state = is_up ? node_state::up : node_state::down;
    if (!is_up) {
        state_->close_sessions(*found);
    } else if (!state_->is_replication_held) {
        state_->catch_up_replicas();
    }
    return {};
}

std::expected<void, cluster_errc> cluster::failover(node_id node) {
    node_record* leaving = state_->find_node(node);
    if (leaving == nullptr) {
        return std::unexpected(cluster_errc::unknown_node);
    }
    if (detail::configured_nodes(*state_).size() == 1) {
        return std::unexpected(cluster_errc::last_node);
    }
    leaving->state = node_state::failed_over;
    state_->close_sessions(*leaving);
    for (const auto& [name, bucket] : state_->buckets) {
        for (std::size_t number = 0; number < bucket->rows.size(); ++number) {
            leave_row(*state_, *bucket, number, number_of(node));
        }
        for (auto& row : bucket->forward_rows) {
            std::ranges::replace(row, number_of(node), std::int16_t{-1});
        }
    }
    leaving->buckets.clear();
    if (!state_->is_replication_held) {
        // The other replicas follow the new active copies, also where those had less.
        state_->catch_up_replicas();
    }
    state_->publish_all();
    return {};
}

std::expected<void, cluster_errc> cluster::move_vbucket(
    std::string_view bucket, wire::vbucket_id which, node_id to) {
    bucket_record* record = state_->find_bucket(bucket);
    node_record* target = state_->find_node(to);
    if (record == nullptr) {
        return std::unexpected(cluster_errc::unknown_bucket);
    }
    if (which.value >= record->rows.size()) {
        return std::unexpected(cluster_errc::unknown_vbucket);
    }
    if (target == nullptr) {
        return std::unexpected(cluster_errc::unknown_node);
    }
    if (target->state != node_state::up) {
        return std::unexpected(cluster_errc::node_down);
    }
    auto& row = record->rows[which.value];
    const std::int16_t from = row[0];
    if (from == number_of(to)) {
        return {};
    }
    auto& slot = target->buckets[std::string(bucket)].vbuckets[which.value];
    if (slot == nullptr) {
        slot = std::make_unique<vbucket>();
    }
    if (vbucket* source = state_->find_copy(from, bucket, which.value); source != nullptr) {
        slot->catch_up(*source);
        // With its data go its locks: they are the active copy's.
        slot->documents = source->documents;
        slot->seqno_persisted = slot->seqno_high;
        source->state = vbucket_state::replica;
    }
    slot->state = vbucket_state::active;
    slot->begin_history(state_->random_uuid());
    if (const auto replica = std::ranges::find(row, number_of(to)); replica != row.end()) {
        *replica = from;
        if (vbucket* source = state_->find_copy(from, bucket, which.value); source != nullptr) {
            source->failover_log = slot->failover_log;
        }
    } else if (from >= 0) {
        state_->nodes[static_cast<std::size_t>(from)]
            ->buckets[std::string(bucket)]
            .vbuckets[which.value]
            .reset();
    }
    row[0] = number_of(to);
    state_->publish(*record);
    return {};
}

std::expected<void, cluster_errc> cluster::set_forward_map(
    std::string_view bucket, wire::vbucket_rows rows) {
    bucket_record* record = state_->find_bucket(bucket);
    if (record == nullptr) {
        return std::unexpected(cluster_errc::unknown_bucket);
    }
    if (!rows.empty() && rows.size() != record->rows.size()) {
        return std::unexpected(cluster_errc::map_mismatch);
    }
    for (const auto& row : rows) {
        const bool is_sound =
            !row.empty() && row.size() <= 4 && std::ranges::all_of(row, [this](std::int16_t node) {
                return node == -1 ||
                       (node >= 0 && state_->find_node(node_id{static_cast<std::uint32_t>(node)}));
            });
        if (!is_sound) {
            return std::unexpected(cluster_errc::map_mismatch);
        }
    }
    record->forward_rows = std::move(rows);
    state_->publish(*record);
    return {};
}

std::optional<node_id> cluster::active_node(std::string_view bucket, wire::vbucket_id which) const {
    const bucket_record* record = state_->find_bucket(bucket);
    if (record == nullptr || which.value >= record->rows.size() ||
        record->rows[which.value][0] < 0) {
        return std::nullopt;
    }
    return node_id{static_cast<std::uint32_t>(record->rows[which.value][0])};
}

std::vector<std::int16_t> cluster::copies_of(
    std::string_view bucket, wire::vbucket_id which) const {
    const bucket_record* record = state_->find_bucket(bucket);
    if (record == nullptr || which.value >= record->rows.size()) {
        return {};
    }
    return record->rows[which.value];
}

std::expected<void, cluster_errc> cluster::hold_configuration(node_id node, bool is_held) {
    node_record* found = state_->find_node(node);
    if (found == nullptr) {
        return std::unexpected(cluster_errc::unknown_node);
    }
    found->is_configuration_held = is_held;
    if (!is_held) {
        state_->announce();
    }
    return {};
}

void cluster::hold_replication(bool is_held) {
    state_->is_replication_held = is_held;
    if (!is_held) {
        state_->catch_up_replicas();
    }
}

void cluster::hold_persistence(bool is_held) {
    state_->is_persistence_held = is_held;
    if (is_held) {
        return;
    }
    for (const auto& node : state_->nodes) {
        for (auto& [name, local] : node->buckets) {
            for (const auto& copy : local.vbuckets) {
                if (copy != nullptr) {
                    copy->seqno_persisted = copy->seqno_high;
                }
            }
        }
    }
}

}  // namespace reprise::sandbox
