#pragma once

/// A clock that moves only when a loop waits. A test of a minute of retries takes microseconds
/// and gives the same result every time.

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include <reprise/retry/clock.hpp>

namespace reprise::testing {

/// Waiting moves the time. Things can be scheduled to happen on the way: a stop request in the
/// middle of a wait, a service that recovers after ten seconds. For use from one thread.
class virtual_clock final : public retry_clock {
public:
    /// `start` is what the clock shows first: any time, also one before zero.
    explicit virtual_clock(time_point start = {}) noexcept : start_(start), now_(start) {}

    [[nodiscard]] time_point now() noexcept override {
        ++reads_;
        return now_;
    }

    /// Runs what is scheduled up to `until`, then moves there. A stop request ends the wait at the
    /// moment it is made.
    [[nodiscard]] bool wait_until(time_point until, const std::stop_token& stop) override {
        const time_point started = now_;
        const bool reached = run_until(until, stop);
        waits_.push_back(driver::time_between(started, now_));
        return reached;
    }

    /// `action` happens when the time comes; at once, during the next wait, if it has passed.
    void at(time_point when, std::function<void()> action) {
        scheduled_.emplace(when, std::move(action));
    }
    void after(duration delay, std::function<void()> action) {
        at(driver::add_saturated(now_, delay), std::move(action));
    }

    /// Moves the time by hand, e.g. inside an operation that "takes" two seconds.
    void advance(duration by) { static_cast<void>(run_until(driver::add_saturated(now_, by), {})); }

    /// Every wait so far, in order, as long as it really lasted.
    [[nodiscard]] const std::vector<duration>& waits() const noexcept { return waits_; }
    /// How often the clock was read.
    [[nodiscard]] std::size_t reads() const noexcept { return reads_; }
    /// Time since the start, without counting as a read.
    [[nodiscard]] duration elapsed() const noexcept { return driver::time_between(start_, now_); }

private:
    bool run_until(time_point until, const std::stop_token& stop) {
        if (stop.stop_requested()) {
            return false;
        }
        while (!scheduled_.empty() && scheduled_.begin()->first <= until) {
            auto event = scheduled_.extract(scheduled_.begin());
            now_ = std::max(now_, event.key());
            event.mapped()();
            if (stop.stop_requested()) {
                return false;
            }
        }
        now_ = std::max(now_, until);
        return true;
    }

    time_point start_;
    time_point now_;
    std::size_t reads_ = 0;
    std::vector<duration> waits_;
    std::multimap<time_point, std::function<void()>> scheduled_;
};

}  // namespace reprise::testing
