#include "rebalance_runner.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "server_core.hpp"

namespace reprise::sandbox::detail {

void rebalance_runner::run(std::chrono::milliseconds interval) {
    const rebalance_progress progress = core_.brain().topology().rebalance_status();
    if (!progress.is_running) {
        return;
    }
    number_ = progress.number;
    interval_ = interval;
    due_ = core_.now() + interval;
    arm();
}

void rebalance_runner::arm() {
    timer_.expires_at(core_.to_steady(due_));
    timer_.async_wait([this, weak = core_.weak_from_this()](const boost::system::error_code& ec) {
        const auto core = weak.lock();
        if (core && !ec && !core->is_stopped()) {
            on_due();
        }
    });
}

void rebalance_runner::on_due() {
    rebalance_progress progress = core_.brain().topology().rebalance_status();
    // If another rebalance has begun since, its own caller steps it.
    if (!progress.is_running || progress.number != number_) {
        return;
    }
    if (const auto step = core_.brain().topology().step_rebalance(); !step) {
        core_.notice("the rebalance failed: " + std::string(to_string(step.error())));
    }
    core_.settle();
    progress = core_.brain().topology().rebalance_status();
    if (progress.is_running && progress.number == number_) {
        // Follows the schedule, not the time at which the timer fired, but never runs a burst of
        // steps.
        due_ = std::max(due_ + interval_, core_.now());
        arm();
    }
}

void rebalance_runner::when_ended(on_end ended) {
    waiters_.push_back(std::move(ended));
    notify();
}

void rebalance_runner::notify() {
    if (waiters_.empty()) {
        return;
    }
    const rebalance_progress progress = core_.brain().topology().rebalance_status();
    if (progress.is_running) {
        return;
    }
    for (const auto& ended : std::exchange(waiters_, {})) {
        ended(progress);
    }
}

void rebalance_runner::stop() noexcept {
    timer_.cancel();
    waiters_.clear();
}

}  // namespace reprise::sandbox::detail
