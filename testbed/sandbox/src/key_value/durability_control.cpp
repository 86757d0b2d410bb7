#include <reprise/sandbox/durability_control.hpp>

#include <algorithm>

#include "cluster_state.hpp"

namespace reprise::sandbox {

void durability_control::hold_replication(bool is_held) {
    state_->is_replication_held = is_held;
    if (!is_held) {
        state_->catch_up_replicas();
        state_->settle_pending(state_->time_seen);
    }
}

void durability_control::hold_persistence(bool is_held) {
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
    state_->settle_pending(state_->time_seen);
}

void durability_control::set_replication_delay(std::chrono::nanoseconds delay) {
    state_->options.replication_delay = std::max(delay, std::chrono::nanoseconds{0});
}

void durability_control::set_recommit_delay(std::chrono::nanoseconds delay) {
    state_->options.recommit_delay = std::max(delay, std::chrono::nanoseconds{0});
}

void durability_control::hold_recommit(bool is_held) {
    state_->is_recommit_held = is_held;
    state_->settle_pending(state_->time_seen);
}

std::size_t durability_control::pending_write_count() const noexcept {
    return state_->pending.size();
}

}  // namespace reprise::sandbox
