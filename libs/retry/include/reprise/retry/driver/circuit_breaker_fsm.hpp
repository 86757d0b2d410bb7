#pragma once

/// The states of a circuit breaker. Sends nothing, reads no clock, locks nothing: the Couchbase
/// client drives one per endpoint, and `circuit_breaker` wraps one for everybody else.
///
///     closed --(too many failures)--> open --(sleep over)--> half open --(probe succeeded)-->
///     closed
///                                       ^-----------(probe failed)--------'

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include <reprise/retry/detail/compiler.hpp>
#include <reprise/retry/retry_errc.hpp>
#include <reprise/retry/time.hpp>

namespace reprise {

/// Where a circuit breaker stands.
enum class circuit_state : std::uint8_t {
    closed,     ///< Requests pass and are counted.
    open,       ///< Nothing passes until the sleep is over.
    half_open,  ///< The probe is on its way; nothing else passes.
};

/// "half open"
[[nodiscard]] REPRISE_EXPORT std::string_view to_string(circuit_state state) noexcept;

/// When a circuit breaker opens, and for how long.
struct circuit_breaker_options {
    /// Requests within the window before it may open; at least 1.
    std::uint32_t volume_threshold = 20;
    /// Opens when at least this share of them failed; 1 to 100.
    std::uint32_t error_threshold_percent = 50;
    /// Requests that ended longer ago do not count. The window advances in 30 buckets, so a request
    /// drops out up to 1/30 of the window early.
    duration rolling_window = std::chrono::seconds{60};
    /// How long it stays open before the probe is sent.
    duration sleep_window = std::chrono::seconds{5};
    /// A probe without an answer for so long has failed.
    duration probe_timeout = std::chrono::seconds{5};
};

/// The first contradiction, if any.
[[nodiscard]] REPRISE_EXPORT std::optional<settings_error> check(
    const circuit_breaker_options& options);

namespace driver {

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
    duration step_;                               // what one of `steps_` covers
    std::size_t step_count_;                      // how many of them are the window; at least 1
    std::array<counts, step_count_max> steps_{};  // a ring; `newest_` takes what ends now
    std::size_t newest_ = 0;
    std::optional<time_point> newest_begin_;  // nothing counted before the first outcome
    counts sum_;                              // of all steps
    time_point due_{};  // open: end of the sleep; half open: the probe is overdue
};

}  // namespace driver

}  // namespace reprise
