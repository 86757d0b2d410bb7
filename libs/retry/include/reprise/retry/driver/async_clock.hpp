#pragma once

/// The clock of an asynchronous loop. Programs need none: without one the Asio forms use Asio's
/// steady timers. Tests pass one to run in virtual time (`reprise/testing/virtual_clock.hpp`).

#include <memory>

#include <reprise/retry/clock.hpp>
#include <reprise/retry/detail/compiler.hpp>

namespace reprise::driver {

/// Callback target for a timer.
class REPRISE_EXPORT wake_target {
public:
    virtual ~wake_target();
    /// May be called from any thread, several times, and long after the wait has ended; does no
    /// work on the calling thread beyond posting to an executor.
    virtual void wake() noexcept = 0;
};

/// A `retry_clock` that can also call back. The asynchronous loops accept no other kind in
/// `call_options::clock`: a clock that can only block would stop the executor.
class REPRISE_EXPORT async_clock : public retry_clock {
public:
    ~async_clock() override;
    /// Calls `target->wake()` once `when` is reached; at once if it has passed. The target is not
    /// kept alive, and a wake-up for a destroyed target is dropped, so there is nothing to disarm.
    virtual void arm(time_point when, std::weak_ptr<wake_target> target) = 0;
};

/// The clock that an asynchronous loop waits with; null: the timers of its executor. Throws
/// `invalid_settings` for a clock that can only block.
[[nodiscard]] REPRISE_EXPORT async_clock* async_clock_of(retry_clock* clock);

}  // namespace reprise::driver
