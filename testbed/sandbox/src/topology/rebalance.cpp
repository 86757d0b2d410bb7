#include <algorithm>
#include <span>
#include <utility>

#include <reprise/base/assert.hpp>
#include <reprise/base/enum_table.hpp>
#include <reprise/sandbox/cluster.hpp>

#include "cluster_state.hpp"
#include "topology/vbucket_placement.hpp"

// Rebalance and graceful failover: the calls of `cluster`, and the move of a single vbucket.

namespace reprise::sandbox {

std::string_view to_string(rebalance_kind kind) noexcept {
    return kind == rebalance_kind::rebalance ? "rebalance" : "graceful_failover";
}

std::string_view to_string(rebalance_end end) noexcept {
    return base::name_of(end);
}

namespace detail {

namespace {

std::unique_ptr<vbucket>& slot_of(
    cluster_state& cluster, const bucket_record& bucket, std::size_t number, std::int16_t node) {
    node_record& at = *cluster.nodes[static_cast<std::size_t>(node)];
    node_bucket* local = cluster.find_local(at, bucket.options.name);
    // Every member holds every bucket.
    REPRISE_ASSERT(local != nullptr);
    return local->vbuckets[number];
}

// Finds the data of a vbucket without an active copy; null if no node has any.
const vbucket* find_fullest(
    cluster_state& cluster, const bucket_record& bucket, std::size_t number) {
    const vbucket* best = nullptr;
    for (const std::int16_t node : bucket.rows[number]) {
        const vbucket* copy =
            cluster.is_up(node) ? cluster.find_copy(node, bucket.options.name, number) : nullptr;
        if (copy != nullptr && (best == nullptr || copy->seqno_high > best->seqno_high)) {
            best = copy;
        }
    }
    return best;
}

// Makes the copy on `to` the active one and returns it.
const vbucket& take_over(
    cluster_state& cluster, bucket_record& bucket, std::size_t number, std::int16_t to) {
    const std::int16_t from = bucket.rows[number][0];
    vbucket* source = cluster.find_copy(from, bucket.options.name, number);
    if (source != nullptr && from == to) {
        return *source;
    }
    std::unique_ptr<vbucket>& slot = slot_of(cluster, bucket, number, to);
    if (source != nullptr) {
        // Everything in the active copy but its scans moves along: documents, locks, history.
        slot = std::make_unique<vbucket>(*source);
        slot->scans.clear();
        slot->begin_recommit();
        source->state = vbucket_state::replica;
        source->forget_locks();
        return *slot;
    }
    const vbucket* fullest = find_fullest(cluster, bucket, number);
    if (fullest == nullptr) {
        slot = std::make_unique<vbucket>();
    } else if (fullest != slot.get()) {
        slot = std::make_unique<vbucket>(*fullest);
    }
    slot->state = vbucket_state::active;
    slot->begin_history(cluster.random_uuid());
    return *slot;
}

// Removes a node from a row: the first replica on a node that is up becomes active, and the places
// of missing copies move to the end.
void leave_row(
    cluster_state& cluster, bucket_record& bucket, std::size_t number, std::int16_t node) {
    auto& row = bucket.rows[number];
    if (row[0] != node) {
        std::ranges::replace(row, node, std::int16_t{-1});
        return;
    }
    row[0] = -1;
    for (std::size_t k = 1; k < row.size(); ++k) {
        vbucket* copy = cluster.is_up(row[k])
                            ? cluster.find_copy(row[k], bucket.options.name, number)
                            : nullptr;
        if (copy != nullptr) {
            copy->state = vbucket_state::active;
            copy->begin_history(cluster.random_uuid());
            row[0] = row[k];
            row.erase(row.begin() + static_cast<std::ptrdiff_t>(k));
            row.push_back(-1);
            return;
        }
    }
}

rebalance_progress describe_plan(const rebalance_plan& plan) {
    rebalance_progress progress;
    progress.is_running = true;
    progress.number = plan.number;
    progress.kind = plan.kind;
    progress.moves_done = plan.done_count;
    progress.moves_total = plan.moves.size();
    progress.leaving = plan.leaving;
    if (plan.has_moves_left()) {
        const planned_move& next = plan.moves[plan.done_count];
        progress.bucket = next.bucket;
        progress.vbucket = wire::vbucket_id{static_cast<std::uint16_t>(next.vbucket)};
    }
    return progress;
}

// Announces the target as the bucket's forward map and records the vbuckets that must move.
void plan_bucket(rebalance_plan& plan, bucket_record& bucket, wire::vbucket_rows target) {
    bool has_moves = false;
    for (std::size_t number = 0; number < target.size(); ++number) {
        if (target[number] != bucket.rows[number]) {
            plan.moves.push_back({bucket.options.name, number, target[number]});
            has_moves = true;
        }
    }
    bucket.forward_rows = has_moves ? std::move(target) : wire::vbucket_rows{};
}

// The nodes that remain after a rebalance with these options. Never returns an empty list.
std::expected<std::vector<std::int16_t>, cluster_errc> find_kept(
    const cluster_state& cluster, const rebalance_options& options) {
    for (const node_id node : options.eject) {
        if (node.value >= cluster.nodes.size() ||
            cluster.nodes[node.value]->state == node_state::left) {
            return std::unexpected(cluster_errc::unknown_node);
        }
    }
    std::vector<std::int16_t> keep;
    for (const node_record* node : configured_nodes(cluster)) {
        if (node->state != node_state::up) {
            return std::unexpected(cluster_errc::node_down);
        }
        if (std::ranges::find(options.eject, node->id) == options.eject.end()) {
            keep.push_back(static_cast<std::int16_t>(node->id.value));
        }
    }
    if (keep.empty()) {
        return std::unexpected(cluster_errc::last_node);
    }
    return keep;
}

// Rows in which a node's active copies have swapped places with their replicas. Empty if no replica
// can take over a vbucket.
wire::vbucket_rows swap_with_replicas(
    cluster_state& cluster, const bucket_record& bucket, std::int16_t node) {
    wire::vbucket_rows rows = bucket.rows;
    for (std::size_t number = 0; number < rows.size(); ++number) {
        auto& row = rows[number];
        if (row[0] != node) {
            continue;
        }
        const auto heir = std::find_if(row.begin() + 1, row.end(), [&](std::int16_t other) {
            return cluster.is_up(other) &&
                   cluster.find_copy(other, bucket.options.name, number) != nullptr;
        });
        if (heir == row.end()) {
            return {};
        }
        std::swap(row[0], *heir);
    }
    return rows;
}

}  // namespace

void place_vbucket(
    cluster_state& cluster, bucket_record& bucket, std::size_t number,
    const std::vector<std::int16_t>& target) {
    const std::vector<std::int16_t> old = bucket.rows[number];
    const vbucket& active = take_over(cluster, bucket, number, target[0]);
    for (const std::int16_t node : std::span(target).subspan(1)) {
        if (!cluster.is_up(node)) {
            continue;
        }
        std::unique_ptr<vbucket>& slot = slot_of(cluster, bucket, number, node);
        const bool is_new = slot == nullptr;
        if (is_new) {
            slot = std::make_unique<vbucket>();
            slot->state = vbucket_state::replica;
        }
        if (is_new || !cluster.is_replication_held) {
            slot->catch_up(active);
            slot->seqno_persisted =
                cluster.is_persistence_held ? slot->seqno_persisted : slot->seqno_high;
        }
    }
    for (const std::int16_t node : old) {
        if (node >= 0 && std::ranges::find(target, node) == target.end()) {
            slot_of(cluster, bucket, number, node).reset();
        }
    }
    bucket.rows[number] = target;
}

void take_out(cluster_state& cluster, node_id node, node_state as) {
    node_record& leaving = *cluster.nodes[node.value];
    const auto entry = static_cast<std::int16_t>(node.value);
    leaving.state = as;
    ++cluster.node_generation;
    leaving.is_joining = false;
    cluster.close_sessions(leaving);
    for (const auto& [name, bucket] : cluster.buckets) {
        for (std::size_t number = 0; number < bucket->rows.size(); ++number) {
            leave_row(cluster, *bucket, number, entry);
        }
        for (auto& row : bucket->forward_rows) {
            std::ranges::replace(row, entry, std::int16_t{-1});
        }
    }
    leaving.buckets.clear();
    ++cluster.removal_generation;
    if (!cluster.is_replication_held) {
        // The other replicas follow the new active copies, even if those have fewer documents.
        cluster.catch_up_replicas();
    }
}

void end_rebalance(cluster_state& cluster, rebalance_end how) {
    for (const auto& [name, bucket] : cluster.buckets) {
        bucket->forward_rows.clear();
    }
    cluster.rebalance_last = describe_plan(*cluster.rebalance);
    cluster.rebalance_last.is_running = false;
    cluster.rebalance_last.end = how;
    cluster.rebalance_last.bucket.clear();
    cluster.rebalance.reset();
}

}  // namespace detail

std::expected<void, cluster_errc> cluster_topology::begin_rebalance(
    const rebalance_options& options) {
    if (state_->rebalance) {
        return std::unexpected(cluster_errc::rebalance_running);
    }
    const auto keep = detail::find_kept(*state_, options);
    if (!keep) {
        return std::unexpected(keep.error());
    }
    detail::rebalance_plan& plan = state_->rebalance.emplace();
    plan.number = state_->rebalance_last.number + 1;
    for (const auto& node : state_->nodes) {
        const bool is_ejected = std::ranges::find(options.eject, node->id) != options.eject.end();
        if (node->state == node_state::failed_over || is_ejected) {
            plan.leaving.push_back(node->id);
        }
        if (node->is_joining && !is_ejected) {
            node->is_joining = false;
            for (const auto& [name, bucket] : state_->buckets) {
                node->buckets[name].vbuckets.resize(state_->options.vbucket_count);
            }
        }
    }
    for (const auto& [name, bucket] : state_->buckets) {
        detail::plan_bucket(
            plan, *bucket, detail::place_evenly(bucket->rows, *keep, bucket->replica_count));
    }
    state_->publish_all();
    return {};
}

std::expected<void, cluster_errc> cluster_topology::begin_graceful_failover(node_id node) {
    if (state_->rebalance) {
        return std::unexpected(cluster_errc::rebalance_running);
    }
    const detail::node_record* leaving = state_->find_node(node);
    if (leaving == nullptr) {
        return std::unexpected(cluster_errc::unknown_node);
    }
    if (leaving->state != node_state::up) {
        return std::unexpected(cluster_errc::node_down);
    }
    if (detail::configured_nodes(*state_).size() == 1) {
        return std::unexpected(cluster_errc::last_node);
    }
    const auto entry = static_cast<std::int16_t>(node.value);
    std::vector<std::pair<detail::bucket_record*, wire::vbucket_rows>> targets;
    for (const auto& [name, bucket] : state_->buckets) {
        wire::vbucket_rows rows = detail::swap_with_replicas(*state_, *bucket, entry);
        if (rows.empty()) {
            return std::unexpected(cluster_errc::no_replica);
        }
        targets.emplace_back(bucket.get(), std::move(rows));
    }
    detail::rebalance_plan& plan = state_->rebalance.emplace();
    plan.number = state_->rebalance_last.number + 1;
    plan.kind = rebalance_kind::graceful_failover;
    plan.leaving = {node};
    for (auto& [bucket, rows] : targets) {
        detail::plan_bucket(plan, *bucket, std::move(rows));
    }
    state_->publish_all();
    return {};
}

std::expected<rebalance_step, cluster_errc> cluster_topology::step_rebalance() {
    if (!state_->rebalance) {
        return std::unexpected(cluster_errc::no_rebalance);
    }
    detail::rebalance_plan& plan = *state_->rebalance;
    rebalance_step step;
    if (!plan.has_moves_left()) {
        step.is_end = true;
        const node_state as =
            plan.kind == rebalance_kind::rebalance ? node_state::left : node_state::failed_over;
        for (const node_id node : plan.leaving) {
            detail::take_out(*state_, node, as);
        }
        detail::end_rebalance(*state_, rebalance_end::finished);
        state_->publish_all();
        return step;
    }
    const detail::planned_move& move = plan.moves[plan.done_count];
    detail::bucket_record& bucket = *state_->find_bucket(move.bucket);
    const std::vector<std::int16_t>& row = bucket.rows[move.vbucket];
    const auto is_usable = [this](std::int16_t node) { return node < 0 || state_->is_up(node); };
    if (!is_usable(row[0]) || !std::ranges::all_of(move.row, is_usable)) {
        detail::end_rebalance(*state_, rebalance_end::failed);
        state_->publish_all();
        return std::unexpected(cluster_errc::node_down);
    }
    step.bucket = move.bucket;
    step.vbucket = wire::vbucket_id{static_cast<std::uint16_t>(move.vbucket)};
    step.from = row;
    step.to = move.row;
    detail::place_vbucket(*state_, bucket, move.vbucket, move.row);
    ++plan.done_count;
    state_->publish(bucket);
    return step;
}

std::expected<void, cluster_errc> cluster_topology::stop_rebalance() {
    if (!state_->rebalance) {
        return std::unexpected(cluster_errc::no_rebalance);
    }
    detail::end_rebalance(*state_, rebalance_end::stopped);
    state_->publish_all();
    return {};
}

rebalance_progress cluster_topology::rebalance_status() const {
    return state_->rebalance ? detail::describe_plan(*state_->rebalance) : state_->rebalance_last;
}

}  // namespace reprise::sandbox
