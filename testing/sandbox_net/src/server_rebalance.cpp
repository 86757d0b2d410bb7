#include <algorithm>
#include <utility>

#include "server_core.hpp"

// Rebalances that proceed automatically, one step per interval.

namespace reprise::sandbox::detail {

void server_core::run_rebalance(std::chrono::milliseconds interval) {
    const rebalance_progress progress = brain_.rebalance_status();
    if (!progress.is_running || is_stopped_) {
        return;
    }
    rebalance_number_ = progress.number;
    rebalance_interval_ = interval;
    rebalance_due_ = now() + interval;
    arm_rebalance();
}

void server_core::arm_rebalance() {
    rebalance_timer_.expires_at(clock_.to_steady(rebalance_due_));
    rebalance_timer_.async_wait([weak = weak_from_this()](const boost::system::error_code& ec) {
        const auto self = weak.lock();
        if (self && !ec && !self->is_stopped_) {
            self->on_rebalance_due();
        }
    });
}

void server_core::on_rebalance_due() {
    rebalance_progress progress = brain_.rebalance_status();
    // If another rebalance has begun since, its own caller steps it.
    if (!progress.is_running || progress.number != rebalance_number_) {
        return;
    }
    if (const auto step = brain_.step_rebalance(); !step) {
        notice("the rebalance failed: " + std::string(to_string(step.error())));
    }
    settle();
    progress = brain_.rebalance_status();
    if (progress.is_running && progress.number == rebalance_number_) {
        // Follows the schedule, not the time at which the timer fired, but never runs a burst of
        // steps.
        rebalance_due_ = std::max(rebalance_due_ + rebalance_interval_, now());
        arm_rebalance();
    }
}

void server_core::when_rebalance_ends(std::function<void(const rebalance_progress&)> ended) {
    rebalance_waiters_.push_back(std::move(ended));
    notify_rebalance_end();
}

void server_core::notify_rebalance_end() {
    if (rebalance_waiters_.empty()) {
        return;
    }
    const rebalance_progress progress = brain_.rebalance_status();
    if (progress.is_running) {
        return;
    }
    for (const auto& ended : std::exchange(rebalance_waiters_, {})) {
        ended(progress);
    }
}

}  // namespace reprise::sandbox::detail
