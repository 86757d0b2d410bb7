#pragma once

/// Virtual time for asynchronous loops. It moves only when a test moves it; an hour of retries
/// takes microseconds and ends the same way every time.
/// ```
///     reprise::testing::virtual_timer time;
///     boost::asio::io_context io;
///     reprise::async_retry<void(boost::system::error_code)>(
///         io, strategy, {.clock = &time}, operation, handler);
///     time.run(io);  // runs until idle
/// ```

#include <cstddef>
#include <functional>
#include <map>
#include <mutex>

#include <reprise/asio/async_clock.hpp>
#include <reprise/retry/detail/compiler.hpp>

namespace reprise::testing {

/// Must outlive the loops that use it. All members may be called from any thread; `run` and the
/// functions that move time must be called from a single thread.
class REPRISE_EXPORT virtual_timer final : public async_clock {
public:
    [[nodiscard]] time_point now() noexcept override;
    /// Blocking loops can share the clock: waiting moves the time, as in `virtual_clock`.
    [[nodiscard]] bool wait_until(time_point until, const std::stop_token& stop) override;
    void arm(time_point when, std::weak_ptr<wake_target> target) override;

    /// `action` happens when time gets there, on the thread that moves it. A time that has passed
    /// counts as now: the action happens at the next move, also one by zero.
    void at(time_point when, std::function<void()> action);
    void after(duration delay, std::function<void()> action);

    /// Moves the time by `by`; what falls due on the way happens in order of time.
    void advance(duration by);
    /// Moves to the next time that a timer waits for and runs what is due. False if no timer waits.
    bool advance_to_next();

    /// Plays to the end: runs whatever `context` (an `io_context`) can run, moves on to the next
    /// wait, and so on until no timer waits any more. Returns the number of moves.
    template <class Context>
    std::size_t run(Context& context) {
        std::size_t moves = 0;
        do {
            context.restart();
            context.poll();
        } while (advance_to_next() && ++moves != 0);
        return moves;
    }

    /// Time since the start.
    [[nodiscard]] duration elapsed() noexcept { return now() - time_point{}; }
    /// Waits and actions that are still to come.
    [[nodiscard]] std::size_t pending();

private:
    struct entry {
        std::weak_ptr<wake_target> target;
        std::function<void()> action;  ///< Empty for waits.

        [[nodiscard]] bool is_dead() const noexcept { return !action && target.expired(); }
    };
    [[nodiscard]] bool step(time_point until);
    void forget_dead();

    std::mutex mutex_;
    time_point now_{};
    std::multimap<time_point, entry> entries_;
};

}  // namespace reprise::testing
