#include <utility>

#include <reprise/retry/driver/retry_session.hpp>

namespace reprise::driver {

late_answer::late_answer(const std::stop_token& caller) : on_stop_(caller, stopper{&ended_}) {}

late_answer::result late_answer::take() noexcept {
    const std::lock_guard lock(mutex_);
    is_taken_ = true;
    return std::exchange(result_, {});
}

void late_answer::post(decision_ticket, std::optional<retry_action> action, std::string) noexcept {
    {
        const std::lock_guard lock(mutex_);
        if (is_taken_ || result_.is_there) {
            return;
        }
        result_ = {true, action};
    }
    ended_.request_stop();
}

}  // namespace reprise::driver
