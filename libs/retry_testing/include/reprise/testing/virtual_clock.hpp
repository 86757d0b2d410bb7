#pragma once

/// Time that moves only when a loop waits or a test moves it. A test of an hour of retries takes
/// microseconds and gives the same result every time.
///
/// A blocking loop that waits moves the time. For asynchronous loops, the test does:
/// ```
///     reprise::testing::virtual_clock clock;
///     boost::asio::io_context io;
///     reprise::async_retry<void(boost::system::error_code)>(
///         io, strategy, {.clock = reprise::borrowed(&clock)}, operation, handler);
///     clock.run(io);  // runs until idle
/// ```

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include <reprise/retry/driver/async_clock.hpp>

namespace reprise::testing {

/// A test can schedule events: a stop request in the middle of a wait, a service that recovers
/// after ten seconds. Must outlive the loops that use it. Any thread may read the time, schedule
/// actions and wait; only one at a time may move it, and waiting moves it.
class virtual_clock final : public driver::async_clock {
public:
    /// `start` is the initial time: any time, even one before zero.
    explicit virtual_clock(time_point start = {}) noexcept : start_(start), now_(start) {}

    [[nodiscard]] time_point now() noexcept override {
        const std::lock_guard lock(mutex_);
        ++reads_;
        return now_;
    }

    /// Runs what is scheduled up to `until`, then moves there. A stop request ends the wait at the
    /// moment it is made.
    [[nodiscard]] bool wait_until(time_point until, const std::stop_token& stop) noexcept override {
        const time_point started = current();
        bool is_reached = false;
        while (!is_reached && !stop.stop_requested()) {
            is_reached = !step(until);
        }
        waits_.push_back(driver::time_between(started, current()));
        return is_reached;
    }

    void arm(time_point when, std::weak_ptr<driver::wake_target> target) override {
        {
            const std::lock_guard lock(mutex_);
            if (when > now_) {
                scheduled_.emplace(when, event{std::move(target), nullptr});
                return;
            }
        }
        if (const auto alive = target.lock()) {
            alive->wake();
        }
    }

    /// Runs `action` when the clock reaches that time, on the thread that moves it; it must not
    /// throw. A time that has passed counts as now: the action runs at the next move, even one by
    /// zero.
    void at(time_point when, std::function<void()> action) {
        const std::lock_guard lock(mutex_);
        scheduled_.emplace(std::max(when, now_), event{{}, std::move(action)});
    }
    void after(duration delay, std::function<void()> action) {
        at(driver::add_saturated(current(), delay), std::move(action));
    }

    /// Moves the time by hand, e.g. inside an operation that "takes" two seconds. What falls due on
    /// the way runs in order of time.
    void advance(duration by) {
        const time_point until = driver::add_saturated(current(), driver::at_least_zero(by));
        while (step(until)) {
        }
    }
    /// Moves to the next time that something waits for and runs what is due. False if nothing
    /// waits.
    bool advance_to_next() {
        time_point next;
        {
            const std::lock_guard lock(mutex_);
            forget_dead();
            if (scheduled_.empty()) {
                return false;
            }
            next = scheduled_.begin()->first;
        }
        return step(next);
    }

    /// Runs until idle: runs whatever `context` (an `io_context`) can run, moves on to the next
    /// wait, and so on until nothing is waiting. Returns the number of moves.
    template <class Context>
    std::size_t run(Context& context) {
        std::size_t moves = 0;
        do {
            context.restart();
            context.poll();
        } while (advance_to_next() && ++moves != 0);
        return moves;
    }

    /// Every wait of a blocking loop so far, in order, with its actual length.
    [[nodiscard]] const std::vector<duration>& waits() const noexcept { return waits_; }
    /// The number of times that the clock was read.
    [[nodiscard]] std::size_t reads() const noexcept {
        const std::lock_guard lock(mutex_);
        return reads_;
    }
    /// Time since the start, without counting as a read.
    [[nodiscard]] duration elapsed() const noexcept {
        return driver::time_between(start_, current());
    }
    /// Asynchronous waits and actions that are still to come.
    [[nodiscard]] std::size_t pending() {
        const std::lock_guard lock(mutex_);
        forget_dead();
        return scheduled_.size();
    }

private:
    struct event {
        std::weak_ptr<driver::wake_target> target;
        std::function<void()> action;  // empty for waits

        [[nodiscard]] bool is_dead() const noexcept { return !action && target.expired(); }
    };

    [[nodiscard]] time_point current() const noexcept {
        const std::lock_guard lock(mutex_);
        return now_;
    }
    /// Runs the first action due by `until`; without one moves the time there and returns false.
    /// Calls it without the lock, because the action may schedule more.
    [[nodiscard]] bool step(time_point until) {
        event due;
        {
            const std::lock_guard lock(mutex_);
            forget_dead();
            if (scheduled_.empty() || scheduled_.begin()->first > until) {
                now_ = std::max(now_, until);
                return false;
            }
            auto node = scheduled_.extract(scheduled_.begin());
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
    void forget_dead() {
        std::erase_if(scheduled_, [](const auto& item) { return item.second.is_dead(); });
    }

    mutable std::mutex mutex_;
    time_point start_;
    time_point now_;
    std::size_t reads_ = 0;
    std::vector<duration> waits_;
    std::multimap<time_point, event> scheduled_;
};

}  // namespace reprise::testing
