#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <system_error>

#include <reprise/engine/vocabulary.hpp>

namespace reprise::engine {

enum class breaker_state : std::uint8_t {
    closed,     // requests pass and are counted
    open,       // nothing passes until the sleep is over
    half_open,  // the canary is on its way; nothing else passes
};

// The breaker of one endpoint: counts, and says when a canary is due. Sends nothing and reads no
// clock.
class circuit_breaker {
public:
    explicit circuit_breaker(circuit_breaker_options options);

    [[nodiscard]] breaker_state state() const noexcept { return state_; }
    [[nodiscard]] bool allows() const noexcept { return state_ == breaker_state::closed; }
    // A request that was sent has ended. Counted only while closed: later ones were sent before.
    void on_outcome(const std::error_code& outcome, time_point now);
    // When `on_due` must be called; nothing while closed.
    [[nodiscard]] std::optional<time_point> next_due() const noexcept;
    // True: half open now, and the caller must send the canary. False: not yet, or the canary is
    // overdue and the sleep begins again.
    [[nodiscard]] bool on_due(time_point now) noexcept;
    // The canary cannot be answered any more, or could not be sent. Ignored unless half open.
    void on_canary_lost(time_point now) noexcept;
    // The endpoint answers: closed, with nothing counted. True if it was not closed before.
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
    breaker_state state_ = breaker_state::closed;
    duration step_;                               // what one of `steps_` covers
    std::size_t step_count_;                      // how many of them are the window; at least 1
    std::array<counts, step_count_max> steps_{};  // a ring; `newest_` takes what ends now
    std::size_t newest_ = 0;
    std::optional<time_point> newest_begin_;  // nothing counted before the first outcome
    counts sum_;                              // of all steps
    time_point due_{};  // open: end of the sleep; half open: the canary is overdue
};

}  // namespace reprise::engine
