#include "loop_shift.hpp"

namespace reprise::net {

void loop_shift::attend(const std::function<void()>& begin) {
    std::unique_lock lock(mutex_);
    while (!is_ended_) {
        wait_for_turn(lock);
        holder_ = holder::thread;
        is_called_ = false;
        context_.restart();  // Under the lock: a caller that comes now stops it again.
        lock.unlock();
        begin();
        context_.run();
        lock.lock();
        holder_ = holder::nobody;
        is_ended_ = !is_wanted_;
        changed_.notify_all();
    }
}

// A caller that asked for the loop takes it first.
void loop_shift::wait_for_turn(std::unique_lock<std::mutex>& lock) {
    const auto is_free = [this] { return holder_ == holder::nobody && !is_wanted_; };
    for (;;) {
        const std::uint64_t seen = calls_;
        changed_.wait_for(lock, patience, [&] { return is_free() && is_called_; });
        if (is_free() && (is_called_ || calls_ == seen)) {
            return;
        }
    }
}

bool loop_shift::try_begin() {
    if (left_out_.load(std::memory_order_relaxed) > 0) {
        left_out_.fetch_sub(1, std::memory_order_relaxed);
        return false;
    }
    std::unique_lock lock(mutex_);
    if (holder_ == holder::caller || is_wanted_ || is_called_ || is_ended_) {
        return false;
    }
    if (holder_ == holder::thread) {
        is_wanted_ = true;
        context_.stop();
        changed_.wait(lock, [this] { return holder_ == holder::nobody; });
        is_wanted_ = false;
        if (is_ended_) {
            return false;
        }
    }
    holder_ = holder::caller;
    context_.restart();
    ++calls_;
    return true;
}

void loop_shift::end() noexcept {
    const std::scoped_lock lock(mutex_);
    holder_ = holder::nobody;
    if (is_called_) {
        left_out_.store(calls_left_out, std::memory_order_relaxed);
        changed_.notify_all();
    }
}

void loop_shift::call() noexcept {
    const std::scoped_lock lock(mutex_);
    if (holder_ == holder::thread) {
        return;
    }
    is_called_ = true;
    if (holder_ == holder::nobody) {
        changed_.notify_all();
    }
}

}  // namespace reprise::net
