#include "operations/answer_mailbox.hpp"

#include <utility>

namespace reprise::engine {

void answer_mailbox::post(
    decision_ticket ticket, std::optional<retry_action> action, std::string cause) noexcept {
    // The hook runs under the lock, because close() must not return while it is still running.
    const std::lock_guard lock(mutex_);
    if (is_closed_) {
        return;
    }
    letters_.push_back({ticket, action, std::move(cause)});
    if (hook_) {
        hook_();
    }
}

std::vector<answer_mailbox::letter> answer_mailbox::take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(letters_, {});
}

void answer_mailbox::set_hook(std::function<void()> hook) {
    const std::lock_guard lock(mutex_);
    hook_ = std::move(hook);
}

void answer_mailbox::close() noexcept {
    const std::lock_guard lock(mutex_);
    is_closed_ = true;
    letters_.clear();
    hook_ = nullptr;
}

}  // namespace reprise::engine
