#include "key_value/pending_write.hpp"

#include <algorithm>
#include <utility>

#include "cluster_state.hpp"
#include "key_value/session.hpp"

namespace reprise::sandbox::detail {

namespace {

key_view view_of_stored(const stored_key& key) noexcept {
    return {key.collection, key.key};
}

std::size_t majority_of(const bucket_record& bucket) noexcept {
    return (1 + bucket.replica_count) / 2 + 1;
}

// Moves the time of the next check to `when` if that is earlier.
void check_no_later_than(cluster_state& cluster, time_point now, time_point when) noexcept {
    if (when > now) {
        cluster.pending_due = std::min(cluster.pending_due, when);
    }
}

// Returns the client if it is connected and has no answer yet, and marks the write as answered.
session* take_client(cluster_state& cluster, pending_write& write) noexcept {
    if (std::exchange(write.is_answered, true)) {
        return nullptr;
    }
    const auto found = cluster.sessions.find(write.entry.connection.value);
    return found == cluster.sessions.end() || found->second->is_closing() ? nullptr : found->second;
}

void report_ambiguous(cluster_state& cluster, pending_write& write) {
    session* client = take_client(cluster, write);
    if (client == nullptr) {
        return;
    }
    audit_entry& entry = cluster.audit.begin();
    const std::uint64_t number = entry.number;
    entry = write.entry;
    entry.number = number;
    entry.time = cluster.time_seen;
    entry.status = wire::status::sync_write_ambiguous;
    entry.cas = 0;
    entry.fate = answer_fate::sent;
    cluster.audit.commit(entry);
    client->on_ambiguous(cluster.time_seen, write.id);
}

bool is_acknowledged(
    cluster_state& cluster, const bucket_record& bucket, const pending_write& write,
    time_point now) {
    if (write.level != wire::durability_level::majority && cluster.is_persistence_held) {
        return false;
    }
    if (majority_of(bucket) == 1) {
        return true;
    }
    check_no_later_than(cluster, now, write.acknowledged_at);
    return !cluster.is_replication_held && now >= write.acknowledged_at &&
           cluster.copies_up(bucket, write.vbucket_number) >= majority_of(bucket);
}

bool is_recommitted(cluster_state& cluster, pending_write& write, time_point now) {
    if (!write.recommitted_at) {
        write.recommitted_at = now + cluster.options.recommit_delay;
        // The client waits at a node that no longer owns the vbucket or has lost its state.
        report_ambiguous(cluster, write);
    }
    check_no_later_than(cluster, now, *write.recommitted_at);
    return !cluster.is_recommit_held && now >= *write.recommitted_at;
}

void apply_write(
    cluster_state& cluster, const bucket_record& bucket, vbucket& active, pending_write& write) {
    const key_view key = view_of_stored(write.key);
    const document& stored = active.store_prepared(key);
    for (const auto& node : cluster.nodes) {
        vbucket* copy = cluster.find_copy(
            static_cast<std::int16_t>(node->id.value), write.bucket, write.vbucket_number);
        if (copy != nullptr && !copy->prepares.empty()) {
            if (const auto it = copy->prepares.find(key); it != copy->prepares.end()) {
                copy->prepares.erase(it);
            }
        }
    }
    cluster.after_change(bucket, write.vbucket_number, active, key, stored);
    audit_entry& entry = cluster.audit.begin();
    const std::uint64_t number = entry.number;
    entry = write.entry;
    entry.number = number;
    entry.time = cluster.time_seen;
    entry.node = node_id{static_cast<std::uint32_t>(bucket.rows[write.vbucket_number][0])};
    entry.is_applied = true;
    entry.cas = stored.cas;
    entry.seqno = stored.seqno;
    entry.fate = answer_fate::committed;
    cluster.audit.commit(entry);
    if (session* client = take_client(cluster, write); client != nullptr) {
        client->on_committed(cluster.time_seen, write.id, stored.seqno);
    }
}

// Advances one write as far as possible. Returns true if it is finished.
bool settle(cluster_state& cluster, pending_write& write, time_point now) {
    const bucket_record* bucket = cluster.find_bucket(write.bucket);
    if (bucket == nullptr) {
        return true;
    }
    const std::int16_t owner = bucket->rows[write.vbucket_number][0];
    vbucket* active = cluster.find_copy(owner, write.bucket, write.vbucket_number);
    const auto prepared = active == nullptr ? prepared_map::iterator()
                                            : active->prepares.find(view_of_stored(write.key));
    if (active == nullptr || prepared == active->prepares.end()) {
        // The write was lost with its node, or its collection was dropped.
        report_ambiguous(cluster, write);
        return true;
    }
    if (!cluster.is_up(owner)) {
        return false;
    }
    const bool is_ready = prepared->second.is_recommitting
                              ? is_recommitted(cluster, write, now)
                              : is_acknowledged(cluster, *bucket, write, now);
    if (is_ready) {
        apply_write(cluster, *bucket, *active, write);
        return true;
    }
    if (!write.is_answered) {
        if (now >= write.deadline) {
            report_ambiguous(cluster, write);
        } else {
            check_no_later_than(cluster, now, write.deadline);
        }
    }
    return false;
}

}  // namespace

std::size_t cluster_state::copies_up(
    const bucket_record& bucket, std::size_t number) const noexcept {
    return static_cast<std::size_t>(std::ranges::count_if(
        bucket.rows[number], [this](std::int16_t node) { return is_up(node); }));
}

bool cluster_state::must_wait(
    const bucket_record& bucket, wire::durability_level level) const noexcept {
    const bool waits_for_replicas =
        majority_of(bucket) > 1 && (is_replication_held || options.replication_delay.count() > 0);
    return waits_for_replicas || (level != wire::durability_level::majority && is_persistence_held);
}

std::uint64_t cluster_state::add_pending(
    const bucket_record& bucket, std::size_t number, const key_view& key,
    const prepared_write& prepared, const wire::durability_requirement& wanted) {
    for (std::size_t k = 1; k < bucket.rows[number].size() && !is_replication_held; ++k) {
        const std::int16_t node = bucket.rows[number][k];
        vbucket* copy = is_up(node) ? find_copy(node, bucket.options.name, number) : nullptr;
        if (copy != nullptr) {
            copy->prepares.insert_or_assign(
                stored_key{key.collection, std::string(key.key)}, prepared);
            copy->seqno_high = std::max(copy->seqno_high, prepared.content.seqno);
            copy->cas_max = std::max(copy->cas_max, prepared.content.cas);
        }
    }
    pending_write write;
    write.id = pending_id_next++;
    write.bucket = bucket.options.name;
    write.vbucket_number = number;
    write.key = {key.collection, std::string(key.key)};
    write.level = wanted.level;
    write.acknowledged_at = time_seen + options.replication_delay;
    write.deadline = time_seen + wanted.timeout.value_or(durability_timeout_default);
    check_no_later_than(*this, time_seen, write.acknowledged_at);
    check_no_later_than(*this, time_seen, write.deadline);
    pending.push_back(std::move(write));
    return pending.back().id;
}

void cluster_state::settle_pending(time_point now) {
    pending_due = time_point::max();
    std::size_t kept = 0;
    for (std::size_t i = 0; i < pending.size(); ++i) {
        if (settle(*this, pending[i], now)) {
            continue;
        }
        if (kept != i) {
            pending[kept] = std::move(pending[i]);
        }
        ++kept;
    }
    pending.resize(kept);
}

}  // namespace reprise::sandbox::detail
