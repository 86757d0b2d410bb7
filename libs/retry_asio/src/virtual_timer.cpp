#include <algorithm>
#include <reprise/asio/virtual_timer.hpp>

namespace reprise::testing {

time_point virtual_timer::now() noexcept {
    const std::lock_guard lock(mutex_);
    return now_;
}

bool virtual_timer::wait_until(time_point until, const std::stop_token& stop) {
    while (!stop.stop_requested()) {
        if (!step(until)) {
            return true;
        }
    }
    return false;
}

void virtual_timer::arm(time_point when, std::weak_ptr<wake_target> target) {
    {
        const std::lock_guard lock(mutex_);
        if (when > now_) {
            entries_.emplace(when, entry{std::move(target), nullptr});
            return;
        }
    }
    if (const auto alive = target.lock()) {
        alive->wake();
    }
}

void virtual_timer::at(time_point when, std::function<void()> action) {
    const std::lock_guard lock(mutex_);
    entries_.emplace(std::max(when, now_), entry{{}, std::move(action)});
}

void virtual_timer::after(duration delay, std::function<void()> action) {
    at(driver::add_saturated(now(), delay), std::move(action));
}

void virtual_timer::advance(duration by) {
    const time_point until = driver::add_saturated(now(), driver::at_least_zero(by));
    while (step(until)) {
    }
}

bool virtual_timer::advance_to_next() {
    time_point next;
    {
        const std::lock_guard lock(mutex_);
        forget_dead();
        if (entries_.empty()) {
            return false;
        }
        next = entries_.begin()->first;
    }
    return step(next);
}

std::size_t virtual_timer::pending() {
    const std::lock_guard lock(mutex_);
    forget_dead();
    return entries_.size();
}

/// Lets the first thing due by `until` happen; without one moves the time there and returns false.
/// Calls out without the lock: whatever happens may come back and arm again.
bool virtual_timer::step(time_point until) {
    entry due;
    {
        const std::lock_guard lock(mutex_);
        forget_dead();
        if (entries_.empty() || entries_.begin()->first > until) {
            now_ = std::max(now_, until);
            return false;
        }
        auto node = entries_.extract(entries_.begin());
        now_ = std::max(now_, node.key());
        due = std::move(node.mapped());
    }
    if (due.action) {
        due.action();
    } else if (const auto alive = due.target.lock()) {
        alive->wake();
    }
    return true;
}

void virtual_timer::forget_dead() {
    std::erase_if(entries_, [](const auto& item) { return item.second.is_dead(); });
}

}  // namespace reprise::testing
