#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>

namespace reprise::net {

// Lets one caller at a time run a loop that callers drive. A caller that finds the loop taken
// submits its work and waits until that is done or the loop is free, whichever comes first.
class loop_turn {
public:
    [[nodiscard]] bool try_begin() {
        const std::scoped_lock lock(mutex_);
        return !std::exchange(is_taken_, true);
    }
    void begin() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return !is_taken_; });
        is_taken_ = true;
    }
    // Returns false if the time is over first.
    [[nodiscard]] bool begin_until(std::chrono::steady_clock::time_point until) {
        std::unique_lock lock(mutex_);
        return changed_.wait_until(lock, until, [this] { return !is_taken_; }) &&
               !std::exchange(is_taken_, true);
    }
    // Returns false if `is_done` first. The thread that makes it true calls `announce`.
    template <class Condition>
    [[nodiscard]] bool begin_unless(const Condition& is_done) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return is_done() || !is_taken_; });
        return !is_done() && !std::exchange(is_taken_, true);
    }
    void end() noexcept {
        {
            const std::scoped_lock lock(mutex_);
            is_taken_ = false;
        }
        changed_.notify_all();
    }
    // Something that a caller waits for is done.
    void announce() noexcept {
        {
            const std::scoped_lock lock(mutex_);
        }
        changed_.notify_all();
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool is_taken_ = false;
};

// Ends a caller's turn when it is destroyed: that of a loop_turn or of a loop_shift.
template <class Turn>
class turn_end {
public:
    explicit turn_end(Turn& turn) noexcept : turn_(turn) {}
    turn_end(const turn_end&) = delete;
    turn_end& operator=(const turn_end&) = delete;
    ~turn_end() { turn_.end(); }

private:
    Turn& turn_;
};

}  // namespace reprise::net
