#include "circuit_breaker.hpp"

#include <utility>

#include <reprise/engine/errc.hpp>

namespace reprise::engine {

circuit_breaker::circuit_breaker(circuit_breaker_options options) : options_(std::move(options)) {}

void circuit_breaker::on_outcome(const std::error_code& outcome, time_point now) {
    if (state_ != breaker_state::closed) {
        return;
    }
    if (!window_start_ || now - *window_start_ >= options_.rolling_window) {
        window_start_ = now;
        total_ = 0;
        failed_ = 0;
    }
    ++total_;
    const bool has_failed =
        options_.is_failure ? options_.is_failure(outcome) : outcome == error_condition::timeout;
    failed_ += has_failed ? 1U : 0U;
    const bool is_enough = total_ >= options_.volume_threshold;
    if (is_enough && failed_ * 100 >= total_ * options_.error_threshold_percent) {
        sleep_from(now);
    }
}

std::optional<time_point> circuit_breaker::next_due() const noexcept {
    return state_ == breaker_state::closed ? std::nullopt : std::optional(due_);
}

bool circuit_breaker::on_due(time_point now) noexcept {
    if (state_ == breaker_state::closed || now < due_) {
        return false;
    }
    if (state_ == breaker_state::half_open) {
        sleep_from(now);
        return false;
    }
    state_ = breaker_state::half_open;
    due_ = add_saturated(now, options_.canary_timeout);
    return true;
}

void circuit_breaker::on_canary_lost(time_point now) noexcept {
    if (state_ == breaker_state::half_open) {
        sleep_from(now);
    }
}

bool circuit_breaker::close() noexcept {
    const bool was_closed = state_ == breaker_state::closed;
    state_ = breaker_state::closed;
    window_start_.reset();
    return !was_closed;
}

void circuit_breaker::sleep_from(time_point now) noexcept {
    state_ = breaker_state::open;
    due_ = add_saturated(now, options_.sleep_window);
}

}  // namespace reprise::engine
