#include "operations/late_answer_queue.hpp"

#include <utility>

namespace reprise::engine {

void late_answer_queue::post(
    driver::decision_ticket ticket, std::optional<driver::retry_action> action,
    std::string cause) noexcept {
    // The hook runs under the lock, because close() must not return while it is still running.
    const std::lock_guard lock(mutex_);
    if (is_closed_) {
        return;
    }
    entries_.push_back({ticket, action, std::move(cause)});
    if (hook_) {
        hook_();
    }
}

std::vector<late_answer_queue::entry> late_answer_queue::take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(entries_, {});
}

void late_answer_queue::set_hook(std::function<void()> hook) {
    const std::lock_guard lock(mutex_);
    hook_ = std::move(hook);
}

void late_answer_queue::close() noexcept {
    const std::lock_guard lock(mutex_);
    is_closed_ = true;
    entries_.clear();
    hook_ = nullptr;
}

}  // namespace reprise::engine
