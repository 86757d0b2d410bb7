#include <algorithm>
#include <iterator>
#include <utility>

#include <reprise/retry/circuit_breaker.hpp>

namespace reprise {

std::string_view to_string(circuit_state state) noexcept {
    switch (state) {
        case circuit_state::closed:
            return "closed";
        case circuit_state::open:
            return "open";
        case circuit_state::half_open:
            return "half open";
    }
    return "unknown";
}

std::optional<driver::settings_error> driver::check(const circuit_breaker_options& options) {
    if (options.volume_threshold == 0) {
        return driver::settings_error{"volume_threshold", "must be at least 1"};
    }
    if (options.error_threshold_percent == 0 || options.error_threshold_percent > 100) {
        return driver::settings_error{"error_threshold_percent", "must be 1 to 100"};
    }
    constexpr duration time_max = std::chrono::hours{24 * 366};
    for (const auto& [field, time] : {
             std::pair{"rolling_window", options.rolling_window},
             std::pair{"sleep_window", options.sleep_window},
             std::pair{"probe_timeout", options.probe_timeout},
         }) {
        if (time <= duration::zero() || time > time_max) {
            return driver::settings_error{field, "must be above zero and at most 366 days"};
        }
    }
    return std::nullopt;
}

namespace driver {

circuit_breaker_fsm::circuit_breaker_fsm(const driver::circuit_breaker_options& options) noexcept
    : options_(options),
      // Rounded up, so that all steps together are never longer than the window.
      step_((options_.rolling_window - duration{1}) / step_count_max + duration{1}),
      step_count_(static_cast<std::size_t>(options_.rolling_window / step_)) {}

// Drops the steps that have left the window. After a longer silence these are all steps.
void circuit_breaker_fsm::roll_to(time_point now) noexcept {
    if (!newest_begin_) {
        newest_begin_ = now;
        return;
    }
    const duration age = time_between(*newest_begin_, now);
    if (age < step_) {
        return;  // Or negative: threads may report in another order than they read the clock.
    }
    const auto passed = age / step_;
    *newest_begin_ += passed * step_;
    for (auto left = std::min<std::int64_t>(passed, std::ssize(steps_)); left > 0; --left) {
        newest_ = (newest_ + 1) % step_count_;
        sum_.total -= steps_[newest_].total;
        sum_.failed -= steps_[newest_].failed;
        steps_[newest_] = {};
    }
}

void circuit_breaker_fsm::on_outcome(bool has_failed, time_point now) noexcept {
    if (state_ != circuit_state::closed) {
        return;
    }
    roll_to(now);
    for (counts* into : {&steps_[newest_], &sum_}) {
        ++into->total;
        into->failed += has_failed ? 1U : 0U;
    }
    const bool is_enough = sum_.total >= options_.volume_threshold;
    if (is_enough && sum_.failed * 100 >= sum_.total * options_.error_threshold_percent) {
        sleep_from(now);
    }
}

std::optional<time_point> circuit_breaker_fsm::next_due() const noexcept {
    return state_ == circuit_state::closed ? std::nullopt : std::optional(due_);
}

bool circuit_breaker_fsm::on_due(time_point now) noexcept {
    if (state_ == circuit_state::closed || now < due_) {
        return false;
    }
    if (state_ == circuit_state::half_open) {
        sleep_from(now);
        return false;
    }
    state_ = circuit_state::half_open;
    due_ = driver::add_saturated(now, options_.probe_timeout);
    return true;
}

void circuit_breaker_fsm::on_probe_lost(time_point now) noexcept {
    if (state_ == circuit_state::half_open) {
        sleep_from(now);
    }
}

bool circuit_breaker_fsm::close() noexcept {
    const bool was_closed = state_ == circuit_state::closed;
    state_ = circuit_state::closed;
    steps_ = {};
    sum_ = {};
    return !was_closed;
}

void circuit_breaker_fsm::sleep_from(time_point now) noexcept {
    state_ = circuit_state::open;
    due_ = driver::add_saturated(now, options_.sleep_window);
}

}  // namespace driver

}  // namespace reprise
