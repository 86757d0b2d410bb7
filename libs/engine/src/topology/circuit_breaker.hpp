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
    open,       // no request passes until the sleep window is over
    half_open,  // the canary is on its way; no other request passes
};

// The breaker of one endpoint. It counts outcomes and reports when a canary is due. It sends
// nothing and reads no clock.
class circuit_breaker {
public:
    explicit circuit_breaker(circuit_breaker_options options);

    [[nodiscard]] breaker_state state() const noexcept { return state_; }
    [[nodiscard]] bool allows() const noexcept { return state_ == breaker_state::closed; }
    // A sent request has ended. Counted only while closed: requests that end later were sent before
    // the breaker opened.
    void on_outcome(const std::error_code& outcome, time_point now);
    // When `on_due` must be called. Empty while closed.
    [[nodiscard]] std::optional<time_point> next_due() const noexcept;
    // Returns true if the breaker is now half open and the caller must send the canary. Returns
    // false if it is too early, or if the canary is overdue and the sleep starts again.
    [[nodiscard]] bool on_due(time_point now) noexcept;
    // The canary could not be sent or will not be answered. Ignored unless half open.
    void on_canary_lost(time_point now) noexcept;
    // The endpoint has answered: closes the breaker and resets the counts. Returns true if it was
    // not closed before.
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
    duration step_;                               // the time that one of `steps_` covers
    std::size_t step_count_;                      // how many steps make up the window; at least 1
    std::array<counts, step_count_max> steps_{};  // a ring; `newest_` counts the current outcomes
    std::size_t newest_ = 0;
    std::optional<time_point> newest_begin_;  // empty before the first outcome
    counts sum_;                              // of all steps
    time_point due_{};  // open: end of the sleep; half open: when the canary is overdue
};

}  // namespace reprise::engine
