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
/// `driver::unattempted_outcome`.
///
/// Of nested loops, give it to the inner one only: an outer attempt would hold the probe that the
/// inner loop needs.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string_view>

#include <reprise/retry/detail/compiler.hpp>
#include <reprise/retry/failure_facts.hpp>
#include <reprise/retry/retry_errc.hpp>
#include <reprise/retry/time.hpp>

/// The state machine of a circuit breaker. It sends nothing, reads no clock and takes no lock. The
/// Couchbase client drives one for each endpoint; `circuit_breaker` wraps one for other programs.
///
///     closed --(too many failures)--> open --(sleep over)--> half open --(probe succeeded)-->
///     closed
///                                       ^-----------(probe failed)--------'

namespace reprise {

/// The state of a circuit breaker.
enum class circuit_state : std::uint8_t {
    closed,     ///< Requests pass and are counted.
    open,       ///< Nothing passes until the sleep is over.
    half_open,  ///< The probe is on its way; nothing else passes.
};

/// "half open"
[[nodiscard]] REPRISE_EXPORT std::string_view to_string(circuit_state state) noexcept;

namespace driver {

/// When a circuit breaker opens, and for how long.
struct circuit_breaker_options {
    /// Requests within the window before it may open; at least 1.
    std::uint32_t volume_threshold = 20;
    /// Opens when at least this share of them failed; 1 to 100.
    std::uint32_t error_threshold_percent = 50;
    /// Requests that ended longer ago do not count. The window advances in 30 buckets, so a request
    /// drops out up to 1/30 of the window early.
    duration rolling_window = std::chrono::seconds{60};
    /// The time that it stays open before the probe is sent.
    duration sleep_window = std::chrono::seconds{5};
    /// A probe that has no answer after this time has failed.
    duration probe_timeout = std::chrono::seconds{5};
};

/// The first contradiction, if any.
[[nodiscard]] REPRISE_EXPORT std::optional<driver::settings_error> check(
    const circuit_breaker_options& options);

/// Not thread-safe.
class REPRISE_EXPORT circuit_breaker_fsm {
public:
    /// The options have been checked.
    explicit circuit_breaker_fsm(const circuit_breaker_options& options) noexcept;

    [[nodiscard]] circuit_state state() const noexcept { return state_; }
    [[nodiscard]] bool allows() const noexcept { return state_ == circuit_state::closed; }
    /// A request that was sent has ended. Counted only while closed: later ones were sent before.
    void on_outcome(bool has_failed, time_point now) noexcept;
    /// When `on_due` must be called; nothing while closed.
    [[nodiscard]] std::optional<time_point> next_due() const noexcept;
    /// True: half open now, and the caller must send the probe. False: not yet, or the probe is
    /// overdue and the sleep begins again.
    [[nodiscard]] bool on_due(time_point now) noexcept;
    /// The probe cannot be answered any more, or could not be sent. Ignored unless half open.
    void on_probe_lost(time_point now) noexcept;
    /// The service answers: closed, with nothing counted. True if it was not closed before.
    bool close() noexcept;

private:
    static constexpr int step_count_max = 30;
    struct counts {
        std::uint64_t total = 0;
        std::uint64_t failed = 0;
    };
    void roll_to(time_point now) noexcept;
    void sleep_from(time_point now) noexcept;

    circuit_breaker_options options_;
    circuit_state state_ = circuit_state::closed;
    duration step_;                               // the time that one of `steps_` covers
    std::size_t step_count_;                      // steps in the window; at least 1
    std::array<counts, step_count_max> steps_{};  // a ring; `newest_` counts what ends now
    std::size_t newest_ = 0;
    std::optional<time_point> newest_begin_;  // empty before the first outcome
    counts sum_;                              // of all steps
    time_point due_{};  // open: end of the sleep; half open: the probe is overdue
};

}  // namespace driver

namespace driver {

/// A breaker's answer before an attempt. Pass it back with the attempt's outcome.
class breaker_permit {
public:
    /// Make no attempt.
    [[nodiscard]] static constexpr breaker_permit refused() noexcept { return {kind::refused, 0}; }
    /// The breaker is closed.
    [[nodiscard]] static constexpr breaker_permit regular() noexcept { return {kind::regular, 0}; }
    /// The one attempt of a half-open breaker. Probes are numbered: one that ends when it is
    /// overdue must not be taken for the one after it.
    [[nodiscard]] static constexpr breaker_permit probe(std::uint32_t number) noexcept {
        return {kind::probe, number};
    }

    [[nodiscard]] constexpr bool is_refused() const noexcept { return kind_ == kind::refused; }
    [[nodiscard]] constexpr bool is_regular() const noexcept { return kind_ == kind::regular; }
    [[nodiscard]] constexpr bool is_probe() const noexcept { return kind_ == kind::probe; }
    [[nodiscard]] friend constexpr bool operator==(
        const breaker_permit&, const breaker_permit&) noexcept = default;

private:
    enum class kind : std::uint8_t { refused, regular, probe };

    constexpr breaker_permit(kind what, std::uint32_t number) noexcept
        : number_(number), kind_(what) {}

    std::uint32_t number_;
    kind kind_;
};

}  // namespace driver

/// Thread-safe. Reads no clock: loops pass the time in.
class REPRISE_EXPORT circuit_breaker {
public:
    using options = driver::circuit_breaker_options;
    /// Whether a failed attempt counts against the service.
    using failure_predicate = std::function<bool(const failure_facts&)>;
    /// Called after each change, from the thread whose attempt caused it; must not throw, and must
    /// not use the breaker.
    using state_listener = std::function<void(circuit_state from, circuit_state to)>;

    /// Throws `invalid_settings` for options that `check` refuses. An empty predicate counts every
    /// failure except those that are the client's fault.
    explicit circuit_breaker(
        const options& chosen = {}, failure_predicate counts = {}, state_listener on_change = {});

    [[nodiscard]] circuit_state state() const noexcept {
        return state_.load(std::memory_order_relaxed);
    }

    /// Asks for permission to make an attempt at `now`.
    [[nodiscard]] driver::breaker_permit try_acquire(time_point now) noexcept;
    /// False if an attempt at `when` would be refused in the current state.
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
    std::uint32_t probe_number_ = 0;  // of the last probe
    failure_predicate counts_;
    state_listener on_change_;
    std::atomic<circuit_state> state_{circuit_state::closed};
};

}  // namespace reprise
