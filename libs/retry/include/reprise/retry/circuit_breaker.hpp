#pragma once

/// Keeps requests away from a service that fails. Strategies that talk to the same service share
/// one:
/// ```
///     const auto breaker = std::make_shared<reprise::circuit_breaker>(...);
///     const auto reads = reprise::attempts(3).every(1ms).breaker(breaker);
/// ```
///
/// ```
/// closed     requests pass; too many failures within the window open it
/// open       no attempt is made: the call fails at once, or returns its fallback
/// half open  one attempt passes as the probe; its outcome closes the breaker or opens it again
/// ```
///
/// A call whose retry would find the breaker open ends with its own last error; the history has
/// `circuit_open`. A call that makes no attempt at all ends with `retry_errc::circuit_open`: see
/// `unattempted_outcome`.
///
/// Of nested loops, give it to the inner one only: an outer attempt would hold the probe that the
/// inner loop needs.

#include <atomic>
#include <functional>
#include <mutex>

#include <reprise/retry/detail/compiler.hpp>
#include <reprise/retry/driver/circuit_breaker_fsm.hpp>
#include <reprise/retry/failure_facts.hpp>

namespace reprise {

namespace driver {

/// A breaker's answer before an attempt. Pass it back with the attempt's outcome.
enum class breaker_permit : std::uint8_t {
    refused,  ///< Make no attempt.
    regular,  ///< The breaker is closed.
    probe,    ///< The one attempt of a half-open breaker.
};

}  // namespace driver

/// Thread-safe. Reads no clock: loops pass the time in.
class REPRISE_EXPORT circuit_breaker {
public:
    /// Whether a failed attempt counts against the service.
    using failure_predicate = std::function<bool(const failure_facts&)>;
    /// Called after each change, from the thread whose attempt caused it; must not throw, and must
    /// not use the breaker.
    using state_listener = std::function<void(circuit_state from, circuit_state to)>;

    /// Throws `invalid_settings` for options that `check` refuses. An empty predicate counts every
    /// failure except those that are the client's fault.
    explicit circuit_breaker(
        const circuit_breaker_options& options = {}, failure_predicate counts = {},
        state_listener on_change = {});

    [[nodiscard]] circuit_state state() const noexcept {
        return state_.load(std::memory_order_relaxed);
    }

    /// Asks for permission to make an attempt at `now`.
    [[nodiscard]] driver::breaker_permit try_acquire(time_point now) noexcept;
    /// False if an attempt at `when` would be refused as things are now.
    [[nodiscard]] bool would_allow(time_point when) const noexcept;
    /// The attempt that got `permit` has succeeded.
    void on_success(driver::breaker_permit permit, time_point now) noexcept;
    /// The attempt that got `permit` has failed.
    void on_failure(
        driver::breaker_permit permit, const failure_facts& facts, time_point now) noexcept;
    /// The attempt that got `permit` was canceled by its caller, which is no evidence about the
    /// service. A canceled probe is lost: the next one is sent after another sleep.
    void on_canceled(driver::breaker_permit permit, time_point now) noexcept;

private:
    void conclude(driver::breaker_permit permit, bool has_failed, time_point now) noexcept;
    void publish(circuit_state before) noexcept;

    mutable std::mutex mutex_;
    driver::circuit_breaker_fsm fsm_;
    failure_predicate counts_;
    state_listener on_change_;
    std::atomic<circuit_state> state_{circuit_state::closed};
};

}  // namespace reprise
