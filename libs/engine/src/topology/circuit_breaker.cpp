#include "topology/circuit_breaker.hpp"

#include <algorithm>
#include <utility>

#include <reprise/engine/vocabulary.hpp>

namespace reprise::engine {

circuit_breaker::circuit_breaker(circuit_breaker_options options)
    : options_(std::move(options)),
      // Rounded up, so that all steps together are never longer than the window.
      step_((options_.rolling_window - duration{1}) / step_count_max + duration{1}),
      step_count_(static_cast<std::size_t>(options_.rolling_window / step_)) {}

// Drops the steps that have left the window. After a longer silence these are all steps.
void circuit_breaker::roll_to(time_point now) noexcept {
    if (!newest_begin_) {
        newest_begin_ = now;
        return;
    }
    const auto passed = (now - *newest_begin_) / step_;
    *newest_begin_ += passed * step_;
    for (auto left = std::min<std::int64_t>(passed, std::ssize(steps_)); left > 0; --left) {
        newest_ = (newest_ + 1) % step_count_;
        sum_.total -= steps_[newest_].total;
        sum_.failed -= steps_[newest_].failed;
        steps_[newest_] = {};
    }
}

void circuit_breaker::on_outcome(const std::error_code& outcome, time_point now) {
    if (state_ != breaker_state::closed) {
        return;
    }
    roll_to(now);
    const bool has_failed = options_.is_failure ? options_.is_failure(outcome)
                                                : outcome == couchbase::error_condition::timeout;
    for (counts* into : {&steps_[newest_], &sum_}) {
        ++into->total;
        into->failed += has_failed ? 1U : 0U;
    }
    const bool is_enough = sum_.total >= options_.volume_threshold;
    if (is_enough && sum_.failed * 100 >= sum_.total * options_.error_threshold_percent) {
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
    newest_begin_.reset();
    steps_ = {};
    sum_ = {};
    return !was_closed;
}

void circuit_breaker::sleep_from(time_point now) noexcept {
    state_ = breaker_state::open;
    due_ = add_saturated(now, options_.sleep_window);
}

}  // namespace reprise::engine
